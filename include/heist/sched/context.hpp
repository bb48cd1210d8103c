// What a task knows of where it runs. Passed by value; two words.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <type_traits>
#include <utility>  // forward

#include "heist/base/env.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/worker.hpp"

namespace heist {

template <class T>
class future;

namespace detail {

/// Why the tasks of a run are skipped: bits of one word, 0 as long as they are not; and the run that it is part of.
struct interrupt_state {
  bool any() const noexcept {
    // relaxed: advice; the end of a run is ordered otherwise
    if (why.load(std::memory_order_relaxed) != 0) return true;
    return outer != nullptr && outer->any();
  }

  os_env::atomic<std::uint32_t> why{0};
  interrupt_state const* outer = nullptr;
};

struct context_access;

}  // namespace detail

/// Handed to every task that takes one. It stays valid while the task runs, on whichever worker that is.
///
/// Threads  of the task it was handed to. A task that forks, joins or waits may go on on another thread afterwards:
///          thread_local variables, errno and a held std::mutex do not move along.
class context {
 public:
  /// The worker that the task runs on now, below executor::worker_count().
  std::size_t worker_id() const noexcept { return fiber_->on->number; }
  /// That worker's squad, below executor::squad_count().
  std::size_t squad_id() const noexcept { return fiber_->on->squad; }

  /// True if the run that this task belongs to has been stopped or has failed: a long task may end early.
  bool stop_requested() const noexcept { return interrupt_ != nullptr && interrupt_->any(); }

  /// Starts `f()` or `f(context)` as a task of its own; its result, or exception, comes through the future.
  template <class F>
  auto submit(F&& f) const;

  /// Runs every callable, in parallel if there are workers, and returns their results as a tuple (std::monostate for
  /// void). If some throw, the first exception in order of the arguments is rethrown, after all have finished.
  template <class... F>
  auto fork_join(F&&... f) const;

  /// Starts a run of a graph; wait() or get() on the handle parks the task, it does not block the worker.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const;

 private:
  friend struct detail::context_access;
  context(detail::fiber& f, detail::interrupt_state const* interrupt) noexcept : fiber_{&f}, interrupt_{interrupt} {}

  detail::fiber* fiber_;
  detail::interrupt_state const* interrupt_;
};

namespace detail {

struct context_access {
  static context make(fiber& f, interrupt_state const* interrupt = nullptr) noexcept { return {f, interrupt}; }
  static fiber& fiber_of(context const& c) noexcept { return *c.fiber_; }
  static interrupt_state const* interrupt_of(context const& c) noexcept { return c.interrupt_; }
};

template <class F, class... Args>
inline constexpr bool callable_plain = std::is_invocable_v<F&, Args...>;
template <class F, class... Args>
inline constexpr bool callable_with_context = std::is_invocable_v<F&, context, Args...>;

/// Calls f(args...), or f(context, args...) if only that is possible.
template <class F, class... Args>
decltype(auto) call_with_context(F& f, fiber& on, interrupt_state const* interrupt, Args&&... args) {
  if constexpr (callable_plain<F, Args...>) {
    return f(std::forward<Args>(args)...);
  } else {
    static_assert(
        callable_with_context<F, Args...>,
        "heist: a task must be callable as f() or f(heist::context), with the values of the tasks it takes as "
        "further arguments; mend its parameters.");
    return f(context_access::make(on, interrupt), std::forward<Args>(args)...);
  }
}

template <class F, class... Args>
using task_result =
    decltype(call_with_context(std::declval<F&>(), std::declval<fiber&>(), nullptr, std::declval<Args>()...));

}  // namespace detail
}  // namespace heist
