// An executor of any policy, without a template parameter.
#pragma once

#include <cstddef>  // size_t
#include <exception>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>  // forward, move

#include "heist/core/executor/executor.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/parallel/async/after.hpp"

namespace heist {

/// Refers to an executor, which must outlive it. One word; pass it by value. It has the members of executor, except
/// observer(). Each does what the member of the executor does. Tasks get a heist::context. Algorithms, flows,
/// per_worker and coroutines take it where they take an executor.
///
/// Threads  as executor.
/// Cost     as executor; a fork through a heist::context asks the executor's order.
class executor_ref {
 public:
  using context_type = context;

  // --- Make ---

  template <class Policy, class Observer>
  executor_ref(executor<Policy, Observer>& ex) noexcept : scheduler_{&detail::executor_access::core_of(ex)} {}

  // --- What it is ---

  std::size_t worker_count() const noexcept { return scheduler_->workers.size(); }
  std::size_t sleeping_workers() const noexcept { return scheduler_->sleeping_workers(); }
  std::size_t squad_count() const { return scheduler_->where.squads().members.size(); }
  topology::machine const& machine() const { return scheduler_->where.machine(); }

  // --- Tasks ---

  template <class F>
  auto submit(F&& f) const {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return detail::submit_task<context>(*scheduler_, std::forward<F>(f));
    } else {
      return detail::rejected_handle<future>{};
    }
  }
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) auto submit(How&& how, Next&& next, More&&... more) const {
    return detail::submit_with<context>(*scheduler_, std::forward<How>(how), std::forward<Next>(next),
                                        std::forward<More>(more)...);
  }

  template <class F>
  void post(F&& f) const {
    if constexpr (detail::accepted<detail::as_child<context, F>>())
      detail::post_to<context>(*scheduler_, std::forward<F>(f));
  }
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) void post(How&& how, Next&& next, More&&... more) const {
    static_cast<void>(submit(std::forward<How>(how), std::forward<Next>(next), std::forward<More>(more)...));
  }

  template <class F>
  decltype(auto) invoke(F&& f) const {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return detail::future_access::take_at_the_end(submit(std::forward<F>(f)));
    } else {
      return detail::rejected{};
    }
  }
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) decltype(auto)
      invoke(How&& how, Next&& next, More&&... more) const {
    return detail::future_access::take_at_the_end(
        submit(std::forward<How>(how), std::forward<Next>(next), std::forward<More>(more)...));
  }
  template <class F>
  decltype(auto) invoke(region& r, F&& f) const {
    if constexpr (detail::accepted<detail::as_called<context, F>>()) {
      return invoke([&](context c) -> decltype(auto) { return c.invoke(r, std::forward<F>(f)); });
    } else {
      return detail::rejected{};
    }
  }

  template <class F>
  decltype(auto) run_here(F&& f) const {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return detail::run_here_on<context>(*scheduler_, std::forward<F>(f));
    } else {
      return detail::rejected{};
    }
  }
  template <class How, class F>
  requires(detail::have_submit_option<How>) decltype(auto) run_here(How&& how, F&& f) const {
    return detail::run_here_with<context>(*scheduler_, std::forward<How>(how), std::forward<F>(f));
  }

  // --- Runs of graphs, pipelines and parts ---

  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const {
    return detail::start_access::run(graph, *scheduler_, std::size_t{1}, std::forward<Options>(options)...);
  }
  template <class Graph, class... Options>
  auto run_n(Graph& graph, std::size_t n, Options&&... options) const {
    return detail::start_access::run(graph, *scheduler_, n, std::forward<Options>(options)...);
  }
  template <class Graph, class Predicate, class... Options>
  auto run_until(Graph& graph, Predicate&& done, Options&&... options) const {
    return detail::start_access::run_until(graph, *scheduler_, std::forward<Predicate>(done),
                                           std::forward<Options>(options)...);
  }

  // --- Wait and look ---

  void wait_idle() const {
    scheduler_->wait_idle();
    if (std::exception_ptr e = scheduler_->unobserved().take()) std::rethrow_exception(std::move(e));
  }
  std::string state_text() const { return scheduler_->state_text(); }

  friend bool operator==(executor_ref, executor_ref) noexcept = default;

 private:
  friend struct detail::executor_access;
  friend std::optional<executor_ref> current_executor() noexcept;
  explicit executor_ref(detail::core& scheduler) noexcept : scheduler_{&scheduler} {}
  detail::core* scheduler_;
};

/// The executor that runs the calling task, for code that gets no context. Nothing on a thread that runs no task, and
/// in context::blocking(). After a wait it is the same.
inline std::optional<executor_ref> current_executor() noexcept {
  detail::worker* const w = detail::this_worker();  // kept: read at once
  return w == nullptr ? std::nullopt : std::optional<executor_ref>{executor_ref{w->scheduler}};
}
/// The worker that runs the calling code, below worker_count() of current_executor(), as context::worker_id(). Nothing
/// where that has nothing. After a wait it may be another one.
inline std::optional<std::size_t> current_worker() noexcept {
  detail::worker* const w = detail::this_worker();  // kept: read at once
  return w == nullptr ? std::nullopt : std::optional<std::size_t>{w->number};
}
/// Identifies the stack that runs the calling code, for data of a task that must be its own over its waits. Two tasks
/// that have begun and not ended have different ones, unless one has called the other. Later tasks get it again. Null
/// on a thread that runs no task.
inline void const* current_stack() noexcept {
  detail::worker* const w = detail::this_worker();                             // kept: read at once
  return w == nullptr ? nullptr : w->current.load(std::memory_order_relaxed);  // relaxed: its own
}

}  // namespace heist
