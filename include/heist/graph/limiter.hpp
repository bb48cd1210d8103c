// At most so many at a time: a counting semaphore for tasks. A task that must wait for it costs no worker.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/graph/node.hpp"
#include "heist/observe/outside_notes.hpp"
#include "heist/sched/core.hpp"
#include "heist/sync/interrupt.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist {
class limiter;

namespace detail {

/// How much the tasks of a run have taken of a limiter. An interrupted run of a graph with conditions gives it back at its
/// end: conditions choose no task then, so the task that releases may not run.
struct limiter_balance {
  limiter* of = nullptr;
  os_env::atomic<std::int64_t> taken{0};
  /// The amount that was not acquired because the run was interrupted. Releases of the run are smaller by this amount.
  os_env::atomic<std::int64_t> skipped{0};

  /// How much of a release of `count` is left when the skipped acquisitions are subtracted.
  std::uint32_t left_of(std::uint32_t count) noexcept;
};

/// What a task with limits takes before its work and gives back after it; also its place in a limiter's line.
///
/// A loop can make the task ready again before its last time has run. One worker at a time acquires for the task. `arrivals`
/// counts the times that have not acquired, `held` those that have and wait to run. README.md, "Ready twice".
struct limited_task : outside_note {
  struct amount {
    limiter* from;
    std::uint32_t count;
    limiter_balance* balance = nullptr;
  };
  std::vector<amount> acquires;  ///< in order of the limiters' addresses, so that no two tasks wait for each other
  std::vector<amount> releases;
  std::size_t acquired = 0;  ///< how many of `acquires` it holds; changed by the worker or releaser that acquires

  os_env::atomic<std::uint32_t> arrivals{0};  ///< times that it is ready and has not acquired; the first one acquires
  os_env::atomic<std::uint32_t> held{0};      ///< times that it has acquired and is about to be resumed

  struct waiting_item : queued_runnable {
    record* task;
  };
  waiting_item resume{};
  core* home = nullptr;
  bool listed = false;  ///< in home->outside; of the worker that acquires

  // In a limiter's line, under the limiter's lock.
  limited_task* next_in_line = nullptr;
  limited_task* previous_in_line = nullptr;
  os_env::atomic<limiter*> waits_for{nullptr};  ///< in whose line it is
  interrupt_state const* interrupt = nullptr;   ///< of the run
};

/// Continues the tasks of a list that is linked by next_in_line. They have left the line.
void resume_all(limited_task* first);

}  // namespace detail

/// Tasks of any graph, and of any executor, may share it: task::limit(), acquire(), release().
///
/// Threads  anybody. First come, first served: a task that wants much is not overtaken for ever.
/// Promises it outlives the runs of the tasks that use it.
class limiter {
 public:
  /// `most`: how much may be held at a time, at least 1. Throws graph_error for 0.
  explicit limiter(std::size_t most);
  limiter(limiter const&) = delete;
  limiter& operator=(limiter const&) = delete;

  std::size_t most() const noexcept { return most_; }
  /// How much is free now; a snapshot.
  std::size_t available() const noexcept;

 private:
  friend struct detail::graph_data;
  friend struct limiter_access;

  enum class answer { acquired, waits, interrupted };

  /// Takes `count`, or puts `t` in line: then it is resumed when it holds them, or when its run is interrupted.
  answer acquire_or_wait(std::uint32_t count, detail::limited_task& t) noexcept;
  /// The run of `t` is interrupted: removes `t` from the line. Adds to `found` the tasks that are to be resumed.
  void leave_line(detail::limited_task& t, detail::limited_task*& found) noexcept;
  /// Under the lock: unlinks the tasks that can go, and puts them before `found`, in order.
  void serve(detail::limited_task*& found) noexcept;
  void unlink(detail::limited_task& t) noexcept;

  /// Gives `count` back, at most up to what the limiter allows, and resumes those that can go.
  void release(std::uint32_t count);

  std::uint32_t const most_;
  std::uint32_t free_;
  detail::limited_task* first_ = nullptr;
  detail::limited_task* last_ = nullptr;
  mutable spin_lock<> lock_;
};

/// For the code that runs limited tasks.
struct limiter_access {
  using answer = limiter::answer;
  /// False if it has to wait, or its run is interrupted.
  static bool try_acquire(limiter& l, std::uint32_t count, detail::limited_task const& t) noexcept;
  static answer acquire_or_wait(limiter& l, std::uint32_t count, detail::limited_task& t) noexcept {
    return l.acquire_or_wait(count, t);
  }
  static void release(limiter& l, std::uint32_t count) { l.release(count); }
  static void leave_line(limiter& l, detail::limited_task& t, detail::limited_task*& found) noexcept {
    l.leave_line(t, found);
  }
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/limiter.ipp"
#endif
