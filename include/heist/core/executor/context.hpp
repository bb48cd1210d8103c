// A task's handle to the place where it runs. Passed by value; two words.
#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>  // exchange, forward

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/fwd.hpp"

namespace heist {

template <class T>
class future;
class region;

namespace detail {

/// The kind of a context's position, in its low bits. Frames of one executor can have different kinds.
enum class position_mark : std::uintptr_t {
  plain = 0,         ///< a slot of its fiber's task stack
  child_first = 1,   ///< the same, of a frame whose forks are child-first
  of_extension = 2,  ///< something of the extension's
  of_extension_too = 3
};

struct context_access;

/// The operations of a context of this order. core/fork/ defines them for parent_first, child_first and of_executor, extensions
/// for their orders.
template <class Order>
struct fork_traits;
/// The same of callables that have been checked (core/fork/).
template <class Order>
struct checked_fork;
/// How they enter a region (locality/region/).
template <class Order>
struct region_entry;

}  // namespace detail

namespace order {
/// Asked at each fork: the executor's policy decides.
struct of_executor {};
}  // namespace order

/// The argument of each task that takes a context. It is valid while the task runs, on any worker.
///
/// `Order` decides which task of a fork runs first. A kernel that takes its context as a template parameter, or as
/// `auto`, knows the executor's order at compile time. `heist::context` is a plain type, converts from each other
/// context, and asks the executor at each fork.
///
/// Threads  the one that runs the task. A task that forks, joins or waits may resume on another thread, without its
///          thread_local variables, errno and a held std::mutex (heist::no_migrate keeps it on its thread).
template <class Order>
class basic_context {
 public:
  using order_type = Order;

  /// The same task. The executor decides the order; or a context of an undivided region becomes one of a divided
  /// region.
  template <class Other, class = std::enable_if_t<std::is_same_v<Order, order::of_executor> ||
                                                      std::is_base_of_v<order::sequential_by<Order>, Other>,
                                                  Other>>

  // --- Where and when it runs ---

  basic_context(basic_context<Other> const& other) noexcept : fiber_{other.fiber_}, position_{other.position_} {}

  /// The worker that the calling code runs on now, below executor::worker_count().
  std::size_t worker_id() const noexcept { return here().worker->number; }
  /// The squad of that worker, below executor::squad_count(). The first call may have to look at the machine.
  std::size_t squad_id() const;

  /// True if the run, scope or task that the calling code belongs to has been stopped or has failed. A long task may
  /// then end early.
  bool stop_requested() const noexcept {
    detail::interrupt_state const* const state = here().interrupt;
    return state != nullptr && state->any();
  }

  /// A token that is stopped when stop_requested() becomes true, for waits outside heist such as
  /// std::condition_variable_any. Valid while the task runs. A task that cannot be stopped gets a token without a
  /// state. Throws bad_alloc at the first call in a run or scope.
  std::stop_token stop_token() const {
    detail::interrupt_state const* const state = here().interrupt;
    return state == nullptr ? std::stop_token{} : state->token();
  }

  // --- Other tasks and blocking calls ---

  /// Calls f(), which may block the thread (files, locks, other libraries), and returns its result. Another thread
  /// takes the worker's place and runs other tasks. After the call the task may be on another thread. f must not use
  /// this context: it runs outside of the executor. If no thread can take the place (options::max_threads, a
  /// no_migrate guard, policies with tiers), f blocks the worker. Cost: two wake-ups of threads.
  template <class F>
  decltype(auto) blocking(F&& f) const;

  /// Same as executor::submit with these arguments.
  template <class F>
  auto submit(F&& f) const;
  /// Same as executor::submit with these arguments.
  template <class How, class Next, class... More>
  auto submit(How&& how, Next&& next, More&&... more) const;

  // --- Forks ---

  /// Runs every callable, in parallel if there are workers, and returns their results as a tuple (std::monostate for
  /// void). If some throw, the first exception in order of the arguments is rethrown, after all have finished.
  template <class... F>
  HEIST_ALWAYS_INLINE auto fork_join(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
    return detail::checked_fork<Order>::fork_join(*this, static_cast<F&&>(f)...);
  }

  // --- Locality ---

  /// As fork_join. In a region that is divided by hand (region_options::tiers_by_hand), the children may run in other
  /// squads.
  template <class... F>
  auto inter_fork(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: inter_fork needs at least one callable.");
    return detail::checked_fork<Order>::inter_fork(*this, static_cast<F&&>(f)...);
  }

  /// Runs `f(context)` as one run of `r`, and returns its result or rethrows its exception. The region is the
  /// policy's memory of a repeated phase. Under a policy with memory the caller may wait while other workers run `f`.
  /// Under other policies, and inside another region's run, it is a call. Throws region_error if `r` has a run
  /// already.
  template <class F>
  decltype(auto) invoke(region& r, F&& f) const {
    return detail::region_entry<Order>::enter(r, *this, f);
  }

  /// Declares how many bytes this task touches, without its children, for a region's profile. No effect outside a
  /// region.
  void footprint(std::uint64_t bytes) const noexcept { detail::fork_traits<Order>::footprint(*this, bytes); }

  /// Schedules by hand: the continuation of this task after its next fork goes to that worker. In one fork_join this
  /// is the fork of the first child. It has an effect in a region's run under a policy that records steals. Under
  /// region::follow_designations() the continuation of the parent task must have been given away too, unless this
  /// task is its last child ("Optimizing Data Locality for Fork/Join Programs Using Constrained Work Stealing",
  /// IV.B). Throws region_error if the worker does not exist; and, here or at the fork, if that rule is broken.
  void assign_continuation(std::size_t worker) const { detail::fork_traits<Order>::assign_continuation(*this, worker); }

  /// False if no other worker can run a descendant of this task under the present schedule, or there is no other
  /// worker. The task may then run its sequential kernel (dynamic coarsening, same paper, section VI).
  bool may_be_stolen() const noexcept {
    return !fiber_->worker->alone && detail::fork_traits<Order>::may_be_stolen(*this);
  }

  /// Starts a run of a graph; wait() or get() on the handle parks the task, it does not block the worker.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const {
    return detail::start_access::run(graph, fiber_->scheduler, std::size_t{1}, std::forward<Options>(options)...);
  }

 private:
  template <class>
  friend class basic_context;
  friend struct detail::context_access;
  basic_context(detail::fiber& f, detail::fork_slot* position) noexcept : fiber_{&f}, position_{position} {}

  /// A child, or a submitted task, may use the context of another task.
  detail::fiber const& here() const noexcept {
    return HEIST_LIKELY(fiber_->runs_here()) ? *fiber_ : detail::fiber_of_code(*fiber_);
  }

  detail::fiber* fiber_;
  detail::fork_slot* position_;  ///< where this frame forks in its fiber's task stack; see detail::position_mark
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
  /// The position with its mark.
  template <class Context>
  static fork_slot* position_of(Context const& c) noexcept {
    return c.position_;
  }

  template <class T>
  static fork_slot* marked(T* p, position_mark mark) noexcept {
    static_assert(alignof(T) >= 4);
    return reinterpret_cast<fork_slot*>(reinterpret_cast<std::uintptr_t>(p) | static_cast<std::uintptr_t>(mark));
  }
  HEIST_ALWAYS_INLINE static position_mark mark_at(fork_slot* position) noexcept {
    return static_cast<position_mark>(reinterpret_cast<std::uintptr_t>(position) & 3);
  }
  template <class Context>
  HEIST_ALWAYS_INLINE static position_mark mark_of(Context const& c) noexcept {
    return mark_at(c.position_);
  }
  /// The position without its mark.
  template <class T>
  static T* unmarked(fork_slot* position) noexcept {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(position) & ~std::uintptr_t{3});
  }
};

template <class F, class... Args>
inline constexpr bool callable_plain = requires(F& f, Args&&... args) {
  f(static_cast<Args&&>(args)...);
};
template <class F, class Context, class... Args>
inline constexpr bool callable_with_context = requires(F& f, Context c, Args&&... args) {
  f(c, static_cast<Args&&>(args)...);
};

/// Work that begins when it is awaited or connected: a coroutine, a sender of std::execution.
template <class T>
inline constexpr bool is_unbegun_work = requires {
  typename T::sender_concept;
};
template <class T>
inline constexpr bool is_unbegun_work<coroutine<T>> = true;

/// The result type of a task. A class, so that the compiler prints the sentence once.
template <class R>
struct result_of_task {
  static_assert(
      !is_unbegun_work<std::remove_cv_t<R>>,
      "heist: a task returns a coroutine or a sender, which heist would not begin; fix it by waiting for it in "
      "the task, as in [&] { return heist::sync_wait(f(x)); }.");
  static constexpr bool is_result = true;
};

/// Calls f(args...), or f(c, args...) if only that is possible.
template <class Context, class F, class... Args>
HEIST_ALWAYS_INLINE decltype(auto) call_task(F& f, Context c, Args&&... args) {
  if constexpr (callable_plain<F, Args...>) {
    static_assert(result_of_task<decltype(f(std::forward<Args>(args)...))>::is_result);
    return f(std::forward<Args>(args)...);
  } else {
    static_assert(
        callable_with_context<F, Context, Args...>,
        "heist: a task must be callable as f() or f(heist::context), with the values of the tasks it takes as "
        "further arguments; fix its parameters.");
    static_assert(result_of_task<decltype(f(c, std::forward<Args>(args)...))>::is_result);
    return f(c, std::forward<Args>(args)...);
  }
}

/// The frame of a task that a worker's loop runs. Rooms specialise it for contexts that carry more than a place to
/// fork.
template <class Context>
struct root_frame {
  explicit root_frame(fiber& of) noexcept : self{of} {}
  fork_slot* position() const noexcept { return self.top(); }
  fiber& self;
};

/// Calls the function of a task that a worker's loop runs on fiber `on`.
template <class Context, class F, class... Args>
decltype(auto) call_with_context(F& f, fiber& self, interrupt_state const* interrupt, Args&&... args) {
  if constexpr (callable_plain<F, Args...>) {
    static_assert(result_of_task<decltype(f(std::forward<Args>(args)...))>::is_result);
    return f(std::forward<Args>(args)...);
  } else {
    interrupted_by const scope{self, interrupt};
    root_frame<Context> root{self};
    return call_task(f, context_access::make<Context>(self, root.position()), std::forward<Args>(args)...);
  }
}

template <class Context, class F, class... Args>
using task_result = decltype(call_task(std::declval<F&>(), std::declval<Context>(), std::declval<Args>()...));

}  // namespace detail
}  // namespace heist
