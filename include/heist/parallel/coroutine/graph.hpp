// co_await of runs of graphs, and of events in them.
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>  // as_const, move

#include "heist/graph/access.hpp"
#include "heist/graph/event.hpp"
#include "heist/graph/run_end.hpp"
#include "heist/parallel/coroutine/resumption.hpp"

namespace heist {
namespace detail {

class run_awaiter {
 public:
  explicit run_awaiter(graph_run&& of) noexcept : run_{std::move(of)} {}
  bool await_ready() const { return run_.is_ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> h) {
    run_state& r = run_access::state(run_);
    core* const on = scheduler_of_promise(h.promise());
    wait_.suspend(r.finished, on != nullptr ? *on : *r.scheduler, h, task_of_promise(h.promise()), nullptr,
                  stop_target_of(r));
  }
  void await_resume() {
    wait_.resumed();
    run_.get();
  }

 private:
  graph_run run_;
  completion_awaiter wait_;
};

struct event_access {
  template <class T>
  static event_node<T>& node_of(event<T> const& e) {
    return e.itself();
  }
  template <class T>
  static decltype(auto) name_of(event<T> const& e) {
    return e.checked().task_name(task_access::index_of(e));
  }
};

template <class T>
class event_awaiter : completion_awaiter {
 public:
  explicit event_awaiter(event<T> const& of) : event_{of} {}
  bool await_ready() const { return event_access::node_of(event_).known.is_ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> h) {
    core* const on = scheduler_of_promise(h.promise());
    if (on == nullptr) reject_await_outside();
    suspend(event_access::node_of(event_).known, *on, h, task_of_promise(h.promise()));
  }
  decltype(auto) await_resume() const {
    auto& node = event_access::node_of(event_);
    if (!node.has_value()) reject_event_without_value(event_access::name_of(event_));
    if constexpr (!std::is_void_v<T>) return std::as_const(node.value).get();
  }

 private:
  event<T> event_;
};

}  // namespace detail

/// co_await event: waits until the event has its value in the present run of its graph; between runs it returns at
/// once. Returns a reference to the value, which is valid until the next run. The coroutine must be on an executor
/// (resume_on). Throws graph_error if there is no value: the run was stopped, has failed, or did not reach the event.
template <class T>
auto operator co_await(event<T> const& e) {
  return detail::event_awaiter<T>{e};
}

/// co_await ex.run(graph): returns when the run has ended, or rethrows its exception.
inline auto operator co_await(graph_run&& r) noexcept {
  return detail::run_awaiter{std::move(r)};
}

}  // namespace heist
