// At most so many at a time: a counting semaphore for tasks. A task that must wait for it costs no worker.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/observe/outside_waits.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/core/sync/permits.hpp"
#include "heist/graph/node.hpp"

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

/// A task with limits takes these before its work and gives them back after it; also its place in a limiter's line.
///
/// A loop can make the task ready again before its last time has run. One worker at a time acquires for the task. `arrivals`
/// counts the times that have not acquired, `held` those that have and wait to run. README.md, "Ready twice".
struct limited_task : outside_note, queued_waiter<> {
  limited_task() noexcept : queued_waiter<>{&go_on} {}
  struct amount {
    limiter* from;
    std::uint32_t count;
    limiter_balance* balance = nullptr;
  };
  vector<amount> acquires;  ///< in order of the limiters' addresses, so that no two tasks wait for each other
  vector<amount> releases;
  std::size_t acquired = 0;  ///< how many of `acquires` it holds; changed by the worker or releaser that acquires

  os_env::atomic<std::uint32_t> arrivals{0};  ///< times that it is ready and has not acquired; the first one acquires
  os_env::atomic<std::uint32_t> held{0};      ///< times that it has acquired and is about to be resumed

  struct waiting_item : queued_runnable {
    record* task;
  };
  waiting_item resume{};
  core* scheduler = nullptr;
  bool listed = false;  ///< in home->outside; of the worker that acquires

  os_env::atomic<limiter*> waits_for{nullptr};  ///< that it acquires; for people
  interrupt_state const* interrupt = nullptr;   ///< of the run

 private:
  static void go_on(queued_waiter<>& me) noexcept;
};

}  // namespace detail

/// Tasks of any graph, and of any executor, may share it: task::limit(), acquire(), release(). A
/// heist::counting_semaphore (heist/sync.hpp) is a limiter: code inside of tasks takes the same permits.
///
/// Threads  any. First come, first served, so a task that needs many permits gets them.
/// Promises it outlives the runs of the tasks that use it.
class limiter {
 public:
  /// `most`: the number of permits, at least 1. Throws graph_error for 0.
  explicit limiter(std::size_t most);
  limiter(limiter const&) = delete;
  limiter& operator=(limiter const&) = delete;

  std::size_t max() const noexcept { return permits_.max(); }
  /// The number of free permits; a snapshot.
  std::size_t available() const noexcept { return permits_.available(); }

  /// Takes so many permits for the calling code, and never waits. Returns false if they are not free, or if tasks wait
  /// in line. release() gives the permits back.
  [[nodiscard]] bool try_acquire(std::size_t permits = 1) noexcept {
    return permits <= max() && permits_.try_take(static_cast<std::uint32_t>(permits));
  }
  /// Gives so many permits back, and lets tasks go on that wait for them. More than max() are lost.
  void release(std::size_t permits = 1) noexcept;

 protected:
  friend struct limiter_access;
  /// Of a semaphore.
  limiter(std::uint32_t free, std::uint32_t most) noexcept : permits_{free, most}, is_semaphore_{true} {}

  detail::permits<> permits_;

 private:
  bool const is_semaphore_ = false;
};

/// For the code that runs limited tasks.
struct limiter_access {
  static detail::permits<>& permits_of(limiter& l) noexcept { return l.permits_; }
  static bool is_semaphore(limiter const& l) noexcept { return l.is_semaphore_; }
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/limiter.ipp"
#endif
