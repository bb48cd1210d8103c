// What a task knows of where it runs. Passed by value; two words.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>  // exchange, forward

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/policy/order.hpp"
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

namespace order {
/// Asked at each fork: what the executor's policy says.
struct of_executor {};
}  // namespace order

template <class Order>
class basic_context;
using context = basic_context<order::of_executor>;

/// Handed to every task that takes one. It stays valid while the task runs, on whichever worker that is.
///
/// `Order` says which of a fork's tasks runs first: a kernel that takes its context as a template parameter, or as
/// `auto`, gets the executor's own at compile time; `heist::context` can be named anywhere, is made from any other, and
/// asks the executor at each fork.
///
/// Threads  of the task it was handed to. A task that forks, joins or waits may go on on another thread afterwards:
///          thread_local variables, errno and a held std::mutex do not move along (heist::no_migrate keeps it).
template <class Order>
class basic_context {
 public:
  /// The same task, with the order left to the executor.
  template <class Other, class = std::enable_if_t<std::is_same_v<Order, order::of_executor>, Other>>
  basic_context(basic_context<Other> const& other) noexcept : fiber_{other.fiber_}, position_{other.position_} {}

  /// The worker that the task runs on now, below executor::worker_count().
  std::size_t worker_id() const noexcept { return fiber_->on->number; }
  /// That worker's squad, below executor::squad_count(). The first call may have to look at the machine.
  std::size_t squad_id() const;

  /// True if what this task is part of has been stopped or has failed: a long task may end early.
  bool stop_requested() const noexcept { return fiber_->interrupt != nullptr && fiber_->interrupt->any(); }

  /// Starts `f()` or `f(context)` as a task of its own; its result, or exception, comes through the future. With a
  /// token, the task is skipped if stop is requested before it starts (get() throws stopped_error) and stop_requested()
  /// tells it, and all that it forks, afterwards.
  template <class F>
  auto submit(F&& f) const;
  template <class F>
  auto submit(std::stop_token token, F&& f) const;

  /// Runs every callable, in parallel if there are workers, and returns their results as a tuple (std::monostate for
  /// void). If some throw, the first exception in order of the arguments is rethrown, after all have finished.
  template <class... F>
  HEIST_ALWAYS_INLINE auto fork_join(F&&... f) const;

  /// Starts a run of a graph; wait() or get() on the handle parks the task, it does not block the worker.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const;

 private:
  template <class>
  friend class basic_context;
  friend struct detail::context_access;
  basic_context(detail::fiber& f, detail::fork_slot* position) noexcept : fiber_{&f}, position_{position} {}

  detail::fiber* fiber_;
  detail::fork_slot* position_;  ///< where this frame forks in its fiber's task stack
};

namespace detail {

struct context_access {
  template <class Context>
  HEIST_ALWAYS_INLINE static Context make(fiber& f, fork_slot* position) noexcept {
    return {f, position};
  }
  template <class Context>
  static fiber& fiber_of(Context const& c) noexcept {
    return *c.fiber_;
  }
  template <class Context>
  static fork_slot* position_of(Context const& c) noexcept {
    return c.position_;
  }
};

template <class F, class... Args>
inline constexpr bool callable_plain = std::is_invocable_v<F&, Args...>;
template <class F, class Context, class... Args>
inline constexpr bool callable_with_context = std::is_invocable_v<F&, Context, Args...>;

/// Calls f(args...), or f(c, args...) if only that is possible.
template <class Context, class F, class... Args>
HEIST_ALWAYS_INLINE decltype(auto) call_task(F& f, Context c, Args&&... args) {
  if constexpr (callable_plain<F, Args...>) {
    return f(std::forward<Args>(args)...);
  } else {
    static_assert(
        callable_with_context<F, Context, Args...>,
        "heist: a task must be callable as f() or f(heist::context), with the values of the tasks it takes as "
        "further arguments; mend its parameters.");
    return f(c, std::forward<Args>(args)...);
  }
}

/// Calls the function of a task that a worker's loop runs on fiber `on`.
template <class Context, class F, class... Args>
decltype(auto) call_with_context(F& f, fiber& on, interrupt_state const* interrupt, Args&&... args) {
  if constexpr (callable_plain<F, Args...>) {
    return f(std::forward<Args>(args)...);
  } else {
    interrupted_by const scope{on, interrupt};
    return call_task(f, context_access::make<Context>(on, on.top()), std::forward<Args>(args)...);
  }
}

template <class Context, class F, class... Args>
using task_result = decltype(call_task(std::declval<F&>(), std::declval<Context>(), std::declval<Args>()...));

}  // namespace detail
}  // namespace heist
