// The waiters at the two ends of a queue. They are woken when they may try again.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/waiter_queue.hpp"

namespace heist::detail {

// Edges (README.md, "Two lines")
//   E1  enter: count, fence, look <-> changed: fence, may_wait   one of the two sees the other

/// Threads  any.
/// Cost     a fence and a load, without waiters.
template <class Env = os_env>
class two_lines {
 public:
  using waiter = queued_waiter<Env>;
  enum side : unsigned { pushers, consumers };

  two_lines() = default;
  two_lines(two_lines const&) = delete;
  two_lines& operator=(two_lines const&) = delete;
  /// The last call of tell() may still be here.
  ~two_lines() { spin_guard guard{lock_}; }

  /// Puts `w` in line, unless `may_go()`: then it tries again (completed). `again`: it has tried and failed, and comes to
  /// the front.
  template <class MayGo>
  wait_end enter(side s, waiter& w, bool again, MayGo may_go) noexcept {
    {
      spin_guard guard{lock_};
      if (w.end == wait_end::completed) w.end = wait_end::none;
      if (!(again ? line_[s].enter_in_front(w) : line_[s].enter(w))) return w.end;
      waiting_.fetch_add(one(s), std::memory_order_relaxed);  // relaxed: the fence
    }
    Env::fence(std::memory_order_seq_cst);  // seq_cst: E1
    if (!may_go()) return wait_end::none;
    spin_guard guard{lock_};
    if (!line_[s].has(w)) return wait_end::none;  // another thread has taken it out, and wakes it
    line_[s].take_out(w, wait_end::completed);
    count_less(s);
    return wait_end::completed;
  }
  /// Called after the queue was changed: then may_wait() sees the waiters.
  static void changed() noexcept { Env::fence(std::memory_order_seq_cst); }  // seq_cst: E1
  bool may_wait(side s) const noexcept {
    return (waiting_.load(std::memory_order_relaxed) & all(s)) != 0;  // relaxed: E1
  }
  bool may_any_wait() const noexcept {
    return waiting_.load(std::memory_order_relaxed) != 0;  // relaxed: E1
  }
  /// Wakes the first of a line.
  HEIST_NOINLINE void tell(side s) noexcept {
    wake_list<Env> notified;
    spin_guard guard{lock_};
    if (line_[s].empty()) return;
    line_[s].complete_first(notified);
    count_less(s);
  }
  void tell_all() noexcept {
    wake_list<Env> notified;
    spin_guard guard{lock_};
    for (auto& line : line_) line.handle_all(notified);
    waiting_.store(0, std::memory_order_relaxed);  // relaxed: as in enter()
  }
  /// A waiter that is stopped or late leaves.
  void leave(side s, waiter& w, wait_end why) noexcept {
    wake_list<Env> notified;
    spin_guard guard{lock_};
    if (w.end == wait_end::completed) w.end = wait_end::none;  // it tries once more
    if (line_[s].leave(w, why, notified)) count_less(s);
  }

 private:
  static constexpr std::uint64_t one(side s) noexcept { return std::uint64_t{1} << (32 * s); }
  static constexpr std::uint64_t all(side s) noexcept { return 0xffffffffu * one(s); }
  void count_less(side s) noexcept {
    waiting_.fetch_sub(one(s), std::memory_order_relaxed);  // relaxed: as in enter()
  }

  typename Env::template atomic<std::uint64_t> waiting_{
      0};  ///< how many: of putters in the lower half, of takers in the upper
  spin_lock<Env> lock_;
  waiter_queue<Env> line_[2];
};

}  // namespace heist::detail
