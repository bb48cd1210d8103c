// Options of submitted tasks and runs: heist::with.
#pragma once

#include <cstddef>  // size_t
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/priority.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/deadline.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/executor/task_callable.hpp"

namespace heist {

/// Options of a task or run: ex.submit(heist::with{.priority = heist::priority::high}, f).
struct with {
  using submit_option_tag = void;

  /// Tasks from outside and tasks with a priority wait in one queue. Those of higher priority begin first. A task of
  /// low priority begins when there is no other work, and now and then earlier.
  heist::priority priority = heist::priority::normal;
  /// First in, first out: it waits in that queue also if a task submits it, and begins after the tasks that were there
  /// before. Otherwise a worker begins the newest of its own tasks. Runs are always started so.
  bool fifo = false;
  /// The number of the worker that begins the task, below executor::worker_count(). The task waits while that worker
  /// is busy. After a wait it may resume on another worker. submit() throws executor_error for a number that is too
  /// large.
  std::optional<std::size_t> worker = std::nullopt;
  /// The name that observers, traces and state_text() use. It must outlive the executor, as a literal does.
  char const* name = nullptr;
  /// If it is stopped before the task starts, the task is skipped, and get() throws stopped_error. If it is stopped
  /// later, context::stop_requested() becomes true in the task and in all its children.
  std::stop_token stop = {};
  /// A point in time (std::chrono) at which the task or run is stopped as by `stop`. If it has not begun, it does not
  /// begin. Its waits end with stopped_error. One thread serves all deadlines; the first deadline makes it. This
  /// thread calls the callbacks of the stop, which must not wait for the task. Needs heist/sync.hpp.
  heist::deadline deadline = {};
  /// future::request_stop() can stop the task, also without a token or a deadline. A task that can be stopped hands its
  /// stop on to what it waits for: that costs some 100 ns for each future.
  bool stoppable = false;
};

namespace detail {

/// What follows a pipeline in run().
template <class... Options>
with options_of_pipeline(Options&&... options) {
  constexpr bool right = sizeof...(Options) <= 1 && (std::is_same_v<option_of<Options>, with> && ...);
  static_assert(
      right,
      "heist: what follows a pipeline in run() is one heist::with; fix the argument, and pass a stop token as "
      "heist::with{.stop = token}.");
  if constexpr (right) {
    return {std::forward<Options>(options)...};
  } else {
    return {};
  }
}

/// Starts the deadline of `how`, whose stop is from then on that of both; null: it has none.
running_limit start_deadline(core& scheduler, with& how);

/// Throws executor_error if `how` says where or when a call waits, and `what` does not wait.
void reject_place(char const* what, with const& how);

/// The state that a task keeps of a `with`.
class with_state {
 public:
  static constexpr bool has_route = true;

  /// Throws executor_error if there is no such worker.
  with_state(core& scheduler, with&& how);

  bool is_routed() const noexcept { return to_ != nullptr || fifo_ || priority_ != priority::normal; }
  char const* name() const noexcept { return name_; }
  void route(async_base& task) { task.scheduler->make_runnable(task, priority_, to_); }
  interrupt_state* interrupt() noexcept { return may_stop_ ? stop_.interrupt() : nullptr; }
  /// False: it cannot be stopped.
  bool request_stop() noexcept {
    if (may_stop_) stop_.request();
    return may_stop_;
  }
  /// The task has ended.
  void end() noexcept { limit_.reset(); }
  bool stopped() const noexcept { return stop_.stopped(); }

 private:
  worker* to_ = nullptr;  // kept: a place, not the worker that runs here
  char const* name_;
  running_limit limit_;
  bool may_stop_;
  stop_state stop_;
  heist::priority priority_;
  bool fifo_;
};

template <class Context>
struct submission<Context, with> {
  template <class F>
  static auto start(core& scheduler, with how, F&& f) {
    if constexpr (accepted<as_task<Context, F>>()) {
      return submit_task<Context, with_state>(scheduler, std::forward<F>(f), scheduler, std::move(how));
    } else {
      return rejected_handle<future>{};
    }
  }
};

/// Can run_here() take these? Otherwise a sentence says so.
template <class Context, class How, class F>
constexpr bool accepted_by_run_here() noexcept {
  constexpr bool right = std::is_same_v<option_of<How>, with>;
  static_assert(right,
                "heist: run_here() takes one callable, last, and in front of it at most one heist::with{...}; fix it "
                "by invoke() to run after other tasks, and pass a stop token as heist::with{.stop = token}.");
  if constexpr (right) return accepted<as_task<Context, F>>();
  return false;
}
/// run_here() with options.
template <class Context, class How, class F>
decltype(auto) run_here_with(core& scheduler, How&& how, F&& f) {
  if constexpr (accepted_by_run_here<Context, How, F>()) {
    reject_place("run_here()", how);
    return run_here_on<Context, with_state>(scheduler, std::forward<F>(f), scheduler, with(std::forward<How>(how)));
  } else {
    return rejected{};
  }
}

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/executor/with.ipp"
#endif
