// At most so many at a time: a counting semaphore for tasks. A task that must wait for it costs no worker.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/graph/node.hpp"
#include "heist/sched/core.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist {
class limiter;

namespace detail {

/// What tasks of a run have taken of a limiter and not given back. Kept where conditions choose: after a failure or a
/// stop they choose nobody, and who would have given it back does not come.
struct limiter_balance {
  limiter* of = nullptr;
  os_env::atomic<std::int64_t> taken{0};
};

/// What a task with limits takes before its work and gives back after it; also its place in a limiter's line.
struct limited_task {
  struct amount {
    limiter* from;
    std::uint32_t count;
    limiter_balance* balance = nullptr;

    void note(std::int64_t change) const noexcept;
  };
  std::vector<amount> acquires;  ///< in order of the limiters' addresses, so that no two tasks wait for each other
  std::vector<amount> releases;
  std::size_t acquired = 0;  ///< how many of `acquires` it holds

  struct waiting_item : queued_runnable {
    record* task;
  };
  waiting_item resume{};
  core* home = nullptr;
  limited_task* next_in_line = nullptr;
};

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

  /// Takes `count`, or puts `t` in line: then it is resumed when it holds them.
  bool acquire_or_wait(std::uint32_t count, detail::limited_task& t) noexcept;

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
  static bool acquire_or_wait(limiter& l, std::uint32_t count, detail::limited_task& t) noexcept;
  static void release(limiter& l, std::uint32_t count) { l.release(count); }
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/limiter.ipp"
#endif
