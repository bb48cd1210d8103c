// A task of a graph that is finished from outside: by a file, a timer, a device, a message.
#pragma once

#include <cstddef>    // size_t
#include <cstdint>    // uint64_t
#include <exception>  // exception_ptr, current_exception
#include <string_view>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/result.hpp"
#include "heist/fwd.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/event_part.hpp"
#include "heist/graph/task.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist {
namespace detail {

/// The value comes into a slot of its own: the task's own may still hold the one of the run before.
template <class T>
struct event_node final : value_node<T>, event_part {
  static constexpr task_kind kind = task_kind::event;

  event_node() noexcept : value_node<T>(operations_of<event_node>), event_part{&take_value} {}

  static runnable* run(runnable& task, fiber& self) {
    record& r = begin_task(task, self);
    return static_cast<event_node&>(r.built()).reached(r, self);
  }

  static void take_value(event_part& part, run_state& of) {
    auto& me = static_cast<event_node&>(part);
    if (me.word.was_released()) {  // it has none in this run; one of an earlier run did not reach the event there
      me.exception = nullptr;
      me.incoming.reset();
    }
    me.was_filled = !me.exception && !me.word.was_released();
    if constexpr (!std::is_void_v<T>) {
      if (!me.was_filled) me.value.reset();
    }
    if (me.exception) {
      of.fail(std::exchange(me.exception, nullptr), me.at);
    } else if (me.incoming.full()) {
      if constexpr (!std::is_void_v<T>) {
        try {
          me.value.fill([&me] { return me.incoming.take(); });
        } catch (...) {
          of.fail(exception_of_task(), me.at);
        }
      }
      me.incoming.reset();
    }
  }

  /// Has the event of the last run a value? False while a run waits for it.
  bool has_value() const noexcept {
    if constexpr (std::is_void_v<T>) {
      return was_filled;
    } else {
      return this->value.full();
    }
  }

  result_slot<T> incoming;
  bool was_filled = false;  ///< where T is void
};

struct event_access;

}  // namespace detail

/// A task of a graph that any thread finishes with a value, once in each run. The run waits for it, but no worker
/// does. It is a handle like task<T>, and converts to task<T>.
///
/// Threads  set_value() and set_exception(): any, while a run of the graph is in progress, from the return of run() on.
template <class T>
class event : public task<T> {
 public:
  /// Refers to nothing.
  event() noexcept = default;

  // As those of task; they return the event.
  using task<T>::name;
  using task<T>::priority;
  event& name(std::string_view text) { return after(task<T>::name(text)); }
  event& priority(heist::priority how) { return after(task<T>::priority(how)); }
  template <class... Tasks>
  event& precede(Tasks const&... others) {
    return after(task<T>::precede(others...));
  }
  template <class... Tasks>
  event& succeed(Tasks const&... others) {
    return after(task<T>::succeed(others...));
  }
  event& limit(limiter& from, std::size_t permits = 1) { return after(task<T>::limit(from, permits)); }
  event& acquire(limiter& from, std::size_t permits = 1) { return after(task<T>::acquire(from, permits)); }
  event& release(limiter& from, std::size_t permits = 1) { return after(task<T>::release(from, permits)); }
  event& footprint(std::uint64_t bytes) { return after(task<T>::footprint(bytes)); }
  event& on_worker(std::size_t number) { return after(task<T>::on_worker(number)); }
  event& on_squad(std::size_t number) { return after(task<T>::on_squad(number)); }

  /// Finishes the task with the value T(args...). If the constructor throws, the event fails with that exception. Has
  /// no effect if the run was stopped or has failed. Throws graph_error the second time in a run, and when no run is
  /// in progress. With run_n and run_until: once in each of the runs.
  template <class... Args>
  void set_value(Args&&... args) const {
    static_assert(
        std::is_void_v<T> ? sizeof...(Args) == 0 : std::is_constructible_v<T, Args...>,
        "heist: event<T>::set_value() makes a T of its arguments; fix it by giving it those of a constructor of "
        "T, and none for event<void>.");
    node& me = itself();
    if (!me.claim(*access::graph_of(*this), access::index_of(*this))) return;
    try {
      me.exception = nullptr;
      if constexpr (std::is_void_v<T>) {
        me.incoming.fill([] {});
      } else {
        me.incoming.fill([&]() -> T { return T(std::forward<Args>(args)...); });
      }
    } catch (...) {
      me.exception = std::current_exception();
    }
    if (me.word.fill()) me.resume();
  }
  /// Ends the run with this exception instead. Errors as for set_value().
  void set_exception(std::exception_ptr why) const {
    itself().fail(std::move(why), *access::graph_of(*this), access::index_of(*this));
  }

 private:
  friend class task_graph;
  friend struct detail::event_access;
  using node = detail::event_node<T>;
  using access = detail::task_access;
  explicit event(task<T> const& t) noexcept : task<T>{t} {}
  event& after(task<T> const&) noexcept { return *this; }
  node& itself() const { return static_cast<node&>(*this->checked().nodes[access::index_of(*this)]); }
};

}  // namespace heist
