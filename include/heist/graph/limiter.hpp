// At most so many at a time: a counting semaphore for tasks. A task that must wait for it costs no worker.
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
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

    void note(std::int64_t change) const noexcept {
      if (balance != nullptr)
        balance->taken.fetch_add(change, std::memory_order_relaxed);  // relaxed: read after the run
    }
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
  explicit limiter(std::size_t most) : most_{static_cast<std::uint32_t>(most)}, free_{most_} {
    if (most == 0 || most > 0x7fffffff) {
      throw graph_error{
          fmt::format("a limiter of {}: no task could ever run, or the count is not a sensible one; mend it by "
                      "allowing at least 1.",
                      most)};
    }
  }
  limiter(limiter const&) = delete;
  limiter& operator=(limiter const&) = delete;

  std::size_t most() const noexcept { return most_; }
  /// How much is free now; a snapshot.
  std::size_t available() const noexcept {
    lock_.lock();
    std::size_t const now = free_;
    lock_.unlock();
    return now;
  }

 private:
  friend struct detail::graph_data;
  friend struct limiter_access;

  /// Takes `count`, or puts `t` in line: then it is resumed when it holds them.
  bool acquire_or_wait(std::uint32_t count, detail::limited_task& t) noexcept {
    spin_guard guard{lock_};
    if (first_ == nullptr && free_ >= count) {
      free_ -= count;
      return true;
    }
    t.next_in_line = nullptr;
    (first_ == nullptr ? first_ : last_->next_in_line) = &t;
    last_ = &t;
    return false;
  }

  /// Gives `count` back, at most up to what the limiter allows, and resumes who can go on.
  void release(std::uint32_t count) {
    detail::limited_task* ready = nullptr;
    detail::limited_task** end = &ready;
    {
      spin_guard guard{lock_};
      free_ = most_ - free_ < count ? most_ : free_ + count;
      while (first_ != nullptr) {
        std::uint32_t const wanted = first_->acquires[first_->acquired].count;
        if (wanted > free_) break;
        free_ -= wanted;
        *end = first_;
        end = &first_->next_in_line;
        first_ = first_->next_in_line;
      }
      *end = nullptr;
    }
    while (ready != nullptr) {
      detail::limited_task& t = *ready;
      ready = t.next_in_line;  // before it runs: then the link is its own again
      ++t.acquired;
      t.home->make_runnable(t.resume);
    }
  }

  std::uint32_t const most_;
  std::uint32_t free_;
  detail::limited_task* first_ = nullptr;
  detail::limited_task* last_ = nullptr;
  mutable spin_lock<> lock_;
};

/// For the code that runs limited tasks.
struct limiter_access {
  static bool acquire_or_wait(limiter& l, std::uint32_t count, detail::limited_task& t) noexcept {
    return l.acquire_or_wait(count, t);
  }
  static void release(limiter& l, std::uint32_t count) { l.release(count); }
};

}  // namespace heist
