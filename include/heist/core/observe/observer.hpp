// The events that an executor reports to its observer: tasks begin and end, workers steal, sleep and wake, fibers park
// and resume. The observer is a type of the executor; null_observer compiles to nothing.
#pragma once

#include <concepts>  // constructible_from, convertible_to
#include <cstddef>   // size_t
#include <cstdint>   // uint8_t
#include <tuple>     // make_from_tuple
#include <utility>   // move, piecewise_construct_t

namespace heist {

namespace detail {
class graph_listener;
}

/// The kind of a task.
enum class task_kind : std::uint8_t {
  task,             ///< a node of a graph
  condition,        ///< a node that chooses one successor
  multi_condition,  ///< a node that chooses several successors
  module,           ///< a node that runs another graph
  async,            ///< a task submitted to the executor or by another task
  event,            ///< a node that is finished from outside
  start,            ///< releases the sources of a run
  other,            ///< anything else that a worker executes
};

/// The kind in one word, for tables and traces.
constexpr char const* to_string(task_kind kind) noexcept {
  switch (kind) {
    case task_kind::task:
      return "task";
    case task_kind::condition:
      return "condition";
    case task_kind::multi_condition:
      return "multi_condition";
    case task_kind::module:
      return "module";
    case task_kind::async:
      return "async";
    case task_kind::event:
      return "event";
    case task_kind::start:
      return "start";
    case task_kind::other:
      break;
  }
  return "other";
}

/// A task as observers see it. Valid during the call only: copy the members that you keep.
struct task_view {
  task_kind kind = task_kind::task;
  void const* id = nullptr;    ///< same value for begin and end, and for every run of the same node
  char const* name = nullptr;  ///< nullptr if the task has no name
};

/// Watches an executor at work.
///
/// Promises  O1  start() is called once, before the workers' threads; every other member on the thread of `worker`.
///           O2  task_begin() and task_end() of one task enclose everything it does. A task that must wait parks:
///               park() on the worker it leaves, resume() on the worker that continues with it, which may be another.
///           O3  sleep() and wake() alternate on each worker.
///           O4  The ends of all tasks of a run are told before the run has ended, that of an async before its future
///               is ready. A task that a limiter holds back begins when it holds its permits.
///           O5  A task that is skipped, because its run was stopped or failed, begins and ends like one that runs.
/// Threads   members for different workers run at the same time: keep data per worker. Never throws.
/// Cost      on the path of every task. An observer with `observes == false` is never called.
/// Models    null_observer, recorder, counters, time_breakdown, tee
// clang-format off
template <class O>
concept observer =
    requires { static_cast<bool>(O::observes); } &&
    requires(O o, std::size_t worker, task_view const& task, void const* fiber) {
      o.start(worker);
      { o.task_begin(worker, task) } noexcept;
      { o.task_end(worker, task) } noexcept;
      { o.steal(worker, worker) } noexcept;
      { o.sleep(worker) } noexcept;
      { o.wake(worker) } noexcept;
      { o.park(worker, fiber) } noexcept;
      { o.resume(worker, fiber) } noexcept;
    };
// clang-format on

/// An observer that is also told when a worker has nothing to do but to look for work: in its loop, or in a join that
/// waits without parking (policies with join::leapfrog or join::spin). `joins`: how many joins wait, one on top of the
/// other, on the fiber that the worker runs on.
///
/// Promises  T1  search_begin() and work_begin() come in turns in a worker's loop, where joins is 0, and in each join
///               that waits so. After a resume() there is a work_begin() for the fiber that resumes.
///           T2  attempt() before each try to take something from a victim, success() after one that took it, on the
///               same worker; work_begin() follows.
/// Models    time_breakdown, tee of one
// clang-format off
template <class O>
concept time_observer =
    observer<O> &&
    requires(O o, std::size_t worker, std::uint32_t joins) {
      { o.search_begin(worker, joins) } noexcept;
      { o.attempt(worker) } noexcept;
      { o.success(worker) } noexcept;
      { o.work_begin(worker, joins) } noexcept;
    };
// clang-format on

/// An observer that is also told where the tasks of two tiers run (policies cab and cats). `task` names an inter-squad
/// task while it, or its subtree, runs; later another may have the same name.
///
/// Promises  Q1  inter_begin() when a worker has taken `task`, or continues with it after its inter-squad children;
///               inter_end() when it has ended with its whole subtree, or starts to wait for such children. They come
///               in turns for each task.
///           Q2  intra_begin() when a worker continues with a frame of the task's subtree: one that it has stolen, or
///               that has waited. From there the frame, with its calls and forks, runs on this worker until another of
///               these events.
/// Models    placement_trace, tee of one
// clang-format off
template <class O>
concept squad_observer =
    observer<O> &&
    requires(O o, std::size_t worker, std::size_t squad, void const* task, std::uint32_t level) {
      { o.inter_begin(worker, squad, task, level) } noexcept;
      { o.inter_end(worker, squad, task) } noexcept;
      { o.intra_begin(worker, squad, task) } noexcept;
    };
// clang-format on

/// An observer that is also told when the run of a composed graph has ended. A task of kind `module` stands for such
/// a graph; it ends when it has started the run.
///
/// Promises  module_end() once for each begin of such a task: after the inner run's tasks have ended, and before the
///           module's successors begin. Any worker calls it, also inside of another task.
/// Models    recorder, tee of one
// clang-format off
template <class O>
concept module_observer =
    observer<O> &&
    requires(O o, std::size_t worker, task_view const& task) {
      { o.module_end(worker, task) } noexcept;
    };
// clang-format on

/// The reason for which a task parks. Valid during the call only, but for `what`.
struct wait_view {
  char const* what = nullptr;  ///< null: for nothing; its worker lets other tasks run first
  char const* name = nullptr;  ///< nullptr if that has no name
};

/// An observer that is also told the reason of a task's wait when it parks.
///
/// Promises  park() with a wait_view instead of the one without.
/// Models    recorder, tee of one
// clang-format off
template <class O>
concept wait_observer =
    requires(O& o, std::size_t worker, void const* fiber, wait_view const& wait) {
      { o.park(worker, fiber, wait) } noexcept;
    };
// clang-format on

namespace detail {

template <class O>
void tell_park(O& o, std::size_t worker, void const* fiber, wait_view const& wait) noexcept {
  if constexpr (wait_observer<O>) {
    o.park(worker, fiber, wait);
  } else {
    o.park(worker, fiber);
  }
}

/// An observer that is also told the edges of graphs. listener() is called once, when the executor is made; its result
/// lives as long as the executor.
template <class O>
concept edge_observer = requires(O& o) {
  { o.listener() }
  noexcept->std::convertible_to<graph_listener*>;
};
}  // namespace detail

/// Observes nothing; the default. Also a base for observers of few events: redefine the members that you need.
struct null_observer {
  static constexpr bool observes = false;
  void start(std::size_t /*workers*/) {}
  void task_begin(std::size_t /*worker*/, task_view const& /*task*/) noexcept {}
  void task_end(std::size_t /*worker*/, task_view const& /*task*/) noexcept {}
  void steal(std::size_t /*thief*/, std::size_t /*victim*/) noexcept {}
  void sleep(std::size_t /*worker*/) noexcept {}
  void wake(std::size_t /*worker*/) noexcept {}
  void park(std::size_t /*worker*/, void const* /*fiber*/) noexcept {}
  void resume(std::size_t /*worker*/, void const* /*fiber*/) noexcept {}
};

/// Two observers as one. Each event goes to `first`, then to `second`.
template <observer A, observer B>
struct tee {
  static constexpr bool observes = A::observes || B::observes;

  A first;
  B second;

  tee() = default;
  /// Moves two observers.
  tee(A a, B b) requires std::move_constructible<A> && std::move_constructible<B> : first(std::move(a)),
                                                                                    second(std::move(b)) {}
  /// Constructs both in place, each from its tuple of arguments.
  template <class TupleA, class TupleB>
  tee(std::piecewise_construct_t, TupleA&& for_first, TupleB&& for_second)
      : first(std::make_from_tuple<A>(std::forward<TupleA>(for_first))),
        second(std::make_from_tuple<B>(std::forward<TupleB>(for_second))) {}

  void start(std::size_t workers) {
    both([&](auto& o) { o.start(workers); });
  }
  void task_begin(std::size_t worker, task_view const& task) noexcept {
    both([&](auto& o) { o.task_begin(worker, task); });
  }
  void task_end(std::size_t worker, task_view const& task) noexcept {
    both([&](auto& o) { o.task_end(worker, task); });
  }
  void steal(std::size_t thief, std::size_t victim) noexcept {
    both([&](auto& o) { o.steal(thief, victim); });
  }
  void sleep(std::size_t worker) noexcept {
    both([&](auto& o) { o.sleep(worker); });
  }
  void wake(std::size_t worker) noexcept {
    both([&](auto& o) { o.wake(worker); });
  }
  void park(std::size_t worker, void const* fiber) noexcept {
    both([&](auto& o) { o.park(worker, fiber); });
  }
  void park(std::size_t worker, void const* fiber, wait_view const& wait) noexcept
      requires(wait_observer<A> || wait_observer<B>) {
    both([&](auto& o) { detail::tell_park(o, worker, fiber, wait); });
  }
  void resume(std::size_t worker, void const* fiber) noexcept {
    both([&](auto& o) { o.resume(worker, fiber); });
  }

  /// The listener of the first of them that has one.
  detail::graph_listener* listener() noexcept requires(detail::edge_observer<A> || detail::edge_observer<B>) {
    if constexpr (detail::edge_observer<A>) {
      return first.listener();
    } else {
      return second.listener();
    }
  }

  // clang-format off
  static constexpr bool of_squads = squad_observer<A> || squad_observer<B>;
  void inter_begin(std::size_t worker, std::size_t squad, void const* task, std::uint32_t level) noexcept
    requires of_squads {
    squad_ones([&](auto& o) { o.inter_begin(worker, squad, task, level); });
  }
  void inter_end(std::size_t worker, std::size_t squad, void const* task) noexcept requires of_squads {
    squad_ones([&](auto& o) { o.inter_end(worker, squad, task); });
  }
  void intra_begin(std::size_t worker, std::size_t squad, void const* task) noexcept requires of_squads {
    squad_ones([&](auto& o) { o.intra_begin(worker, squad, task); });
  }

  static constexpr bool is_timed = time_observer<A> || time_observer<B>;
  void search_begin(std::size_t worker, std::uint32_t joins) noexcept requires is_timed {
    timed_ones([&](auto& o) { o.search_begin(worker, joins); });
  }
  void attempt(std::size_t worker) noexcept requires is_timed {
    timed_ones([&](auto& o) { o.attempt(worker); });
  }
  void success(std::size_t worker) noexcept requires is_timed {
    timed_ones([&](auto& o) { o.success(worker); });
  }
  void work_begin(std::size_t worker, std::uint32_t joins) noexcept requires is_timed {
    timed_ones([&](auto& o) { o.work_begin(worker, joins); });
  }

  static constexpr bool of_modules = module_observer<A> || module_observer<B>;
  void module_end(std::size_t worker, task_view const& task) noexcept requires of_modules {
    if constexpr (A::observes && module_observer<A>) first.module_end(worker, task);
    if constexpr (B::observes && module_observer<B>) second.module_end(worker, task);
  }
  // clang-format on

 private:
  template <class F>
  void both(F f) {
    if constexpr (A::observes) f(first);
    if constexpr (B::observes) f(second);
  }
  template <class F>
  void squad_ones(F f) {
    if constexpr (A::observes && squad_observer<A>) f(first);
    if constexpr (B::observes && squad_observer<B>) f(second);
  }
  template <class F>
  void timed_ones(F f) {
    if constexpr (A::observes && time_observer<A>) f(first);
    if constexpr (B::observes && time_observer<B>) f(second);
  }
};

static_assert(observer<null_observer> && !null_observer::observes);
static_assert(observer<tee<null_observer, null_observer>> && !tee<null_observer, null_observer>::observes);

}  // namespace heist
