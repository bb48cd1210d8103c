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
#include "heist/sched/interrupt.hpp"
#include "heist/sched/worker.hpp"

namespace heist {

template <class T>
class future;
class region;

namespace detail {

/// How the frame of a task forks where the policy has tiers, or records; kept in the low bits of its context's
/// position.
enum class tier_mark : std::uintptr_t {
  flat = 0,      ///< on its fiber's task stack; what all frames of other policies do
  intra = 1,     ///< child-first, within its squad; the rest of the position counts
  inter = 2,     ///< its children are inter-squad tasks; the rest is an inter_frame
  profiled = 3,  ///< flat, and measured; the rest is a profile_frame
  recorded = 1   ///< where the policy records, which then has no tiers; the rest is a frame_record. No basic_context of
                 ///< the order `recorded` is without one.
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
  /// The same task, with the order left to the executor; or, of a region that is not divided, as in one that is.
  template <class Other, class = std::enable_if_t<std::is_same_v<Order, order::of_executor> ||
                                                      (std::is_same_v<Order, order::by_tier> &&
                                                       std::is_same_v<Other, order::undivided>),
                                                  Other>>
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

  /// As fork_join; where a region's run is divided into tiers and this task is in the inter-squad tier, the children
  /// are inter-squad tasks (CAB's inter_spawn). Anywhere else it is fork_join.
  template <class... F>
  auto inter_fork(F&&... f) const;

  /// Runs `f(context)` as one run of `r`, and returns its result or rethrows its exception: what the executor's policy
  /// remembers of a repeated phase is in the region. Under a policy with tiers the caller waits while the squads run
  /// it; otherwise, and inside another region's run, it is a call. Throws region_error if `r` has a run already.
  template <class F>
  decltype(auto) sync_wait(region& r, F&& f) const;

  /// Says that this task itself (not what it forks) touches so many bytes, for a region's profile; nothing elsewhere.
  void footprint(std::uint64_t bytes) const noexcept;

  /// By hand: the rest of this task, after the child that is forked next, goes to that worker, where the policy records
  /// and the task is in a region's run; anywhere else it means nothing. In one fork_join it counts for the first child.
  /// Under region::follow_designations() the rest of the task that called this one must have been given away too,
  /// unless it was this task's caller's last child ("Optimizing Data Locality for Fork/Join Programs Using Constrained
  /// Work Stealing", IV.B). Throws region_error if the worker does not exist, or, there or at the fork, if that is not
  /// so.
  void designate(std::size_t worker) const;

  /// False if nothing that this task forks, directly or not, can be run by another worker under the steal tree in
  /// force, or there is no other worker: it may as well run its sequential kernel (dynamic coarsening, VI).
  bool may_be_stolen() const noexcept;

  /// Starts a run of a graph; wait() or get() on the handle parks the task, it does not block the worker.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const;

 private:
  template <class>
  friend class basic_context;
  friend struct detail::context_access;
  basic_context(detail::fiber& f, detail::fork_slot* position) noexcept : fiber_{&f}, position_{position} {}

  detail::fiber* fiber_;
  detail::fork_slot* position_;  ///< where this frame forks in its fiber's task stack; marked, see detail::tier_mark
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
  /// For the first child of a child-first fork, on its own fiber.
  template <class Context>
  HEIST_ALWAYS_INLINE static Context make_child(fiber& f) noexcept {
    if constexpr (std::is_same_v<Context, basic_context<order::by_tier>>) {
      return {f, marked(f.tasks.first(), tier_mark::intra)};
    } else if constexpr (std::is_same_v<Context, context>) {
      return {f, f.order == fork_order::by_tier ? marked(f.tasks.first(), tier_mark::intra) : f.tasks.first()};
    } else {
      return {f, f.tasks.first()};
    }
  }

  /// The position with its mark.
  template <class Context>
  static fork_slot* position_of(Context const& c) noexcept {
    return c.position_;
  }

  template <class T>
  static fork_slot* marked(T* p, tier_mark mark) noexcept {
    static_assert(alignof(T) >= 4);
    return reinterpret_cast<fork_slot*>(reinterpret_cast<std::uintptr_t>(p) | static_cast<std::uintptr_t>(mark));
  }
  HEIST_ALWAYS_INLINE static tier_mark mark_at(fork_slot* position) noexcept {
    return static_cast<tier_mark>(reinterpret_cast<std::uintptr_t>(position) & 3);
  }
  template <class Context>
  HEIST_ALWAYS_INLINE static tier_mark mark_of(Context const& c) noexcept {
    return mark_at(c.position_);
  }
  /// The position without its mark.
  template <class T, class Context>
  static T* unmarked(Context const& c) noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(c.position_) & ~std::uintptr_t{3});
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
    if constexpr (std::is_same_v<Context, basic_context<order::recorded>>) {
      frame_record of_no_run{nullptr, 0, 0};
      return call_task(f, context_access::make<Context>(on, context_access::marked(&of_no_run, tier_mark::recorded)),
                       std::forward<Args>(args)...);
    } else {
      return call_task(f, context_access::make<Context>(on, on.top()), std::forward<Args>(args)...);
    }
  }
}

template <class Context, class F, class... Args>
using task_result = decltype(call_task(std::declval<F&>(), std::declval<Context>(), std::declval<Args>()...));

}  // namespace detail
}  // namespace heist
