// How much work is under way: counted where it begins and where it ends, added up only when somebody waits for the end.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"

namespace heist {

// Edges (proof: README.md, "What is counted, and when")
//   W1  ended: lane.ended.store(release) -> idle: lane.ended.load(acquire)   the unit's effects, and that it had begun
//   W2  ended: light_fence               <-> wait_idle: heavy_fence          the worker sees the waiter, or the waiter
//                                                                            sees the end
//   W3  ended: fence(seq_cst)            <-> ended: fence(seq_cst)           of two workers that end the last two
//   units,
//                                                                            one sees the other's
//   W4  ended: word.fetch_add(release)   -> wait_idle: word.load(acquire)    what was done before
//   W5  leave: outside_.fetch_sub(release) -> wait_for_visitors: outside_.load(acquire)   the visitor's last touch

/// Units of work that workers, each in its own lane, and threads outside begin, and that workers end.
///
/// Threads  began() and ended() of a lane by its worker; everything else by anybody.
/// Cost     began and ended: plain stores to a line of one's own. enter and leave: one locked operation each.
template <class Env = os_env>
class work_count {
  template <class T>
  using atomic = typename Env::template atomic<T>;

 public:
  explicit work_count(std::size_t workers) : lanes_{std::make_unique<lane[]>(workers)}, workers_{workers} {}

  /// A worker begins a unit; to be called before anybody can end it.
  void began(std::size_t worker) noexcept {
    atomic<std::uint64_t>& n = lanes_[worker].began;
    // relaxed: own count; what hands the unit over publishes it
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// A worker tells that it has ended `total` units since it started. Returns after all waiters that it may concern
  /// know.
  void ended(std::size_t worker, std::uint64_t total) noexcept {
    atomic<std::uint64_t>& n = lanes_[worker].ended;
    if (n.load(std::memory_order_relaxed) == total) return;  // relaxed: own count
    n.store(total, std::memory_order_release);               // W1
    Env::light_fence();                                      // W2
    if (waiters_.load(std::memory_order_relaxed) == 0) [[likely]]
      return;                               // relaxed: W2
    Env::fence(std::memory_order_seq_cst);  // W3
    if (!idle()) return;
    word_.fetch_add(1, std::memory_order_release);  // W4
    word_.wake_all();
  }
  /// What ended() was told last.
  std::uint64_t ended_snapshot(std::size_t worker) const noexcept {
    return lanes_[worker].ended.load(std::memory_order_relaxed);  // relaxed: for printing
  }

  /// A thread outside begins `units`, 0 or 1, and comes in: between enter() and leave() it may touch the executor,
  /// which is not destroyed before it has left even if the unit ends.
  void enter(std::uint64_t units) noexcept {
    outside_.fetch_add(one_visitor + units,
                       std::memory_order_relaxed);  // relaxed: what hands the unit over publishes it
  }
  void leave() noexcept { outside_.fetch_sub(one_visitor, std::memory_order_release); }  // W5
  /// A thread outside begins a unit that it hands over otherwise.
  void began_outside() noexcept { outside_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: as in enter()

  /// Blocks until there was a moment without work.
  void wait_idle() noexcept {
    waiters_.fetch_add(1, std::memory_order_relaxed);  // relaxed: W2
    Env::heavy_fence();                                // W2
    for (;;) {
      std::uint32_t const seen = word_.load(std::memory_order_acquire);  // W4
      if (idle()) break;
      word_.wait(seen);
    }
    waiters_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
  }

  /// Returns when no visitor is left; for the destructor, after which nobody comes in.
  void wait_for_visitors() noexcept {
    while (outside_.load(std::memory_order_acquire) >= one_visitor) Env::yield();  // W5
  }

 private:
  // outside_:  63 to 48 visitors
  //            47 to  0 units of work begun outside
  static constexpr std::uint64_t one_visitor = std::uint64_t{1} << 48;
  static constexpr std::uint64_t units_mask = one_visitor - 1;

  struct alignas(cache_line_size) lane {
    atomic<std::uint64_t> began{0};
    atomic<std::uint64_t> ended{0};
  };

  /// Ends first: a unit that is seen to have ended is then seen to have begun (W1), so equal sums were equal at a time.
  bool idle() const noexcept {
    std::uint64_t ends = 0, begins = 0;
    for (std::size_t i = 0; i < workers_; ++i) ends += lanes_[i].ended.load(std::memory_order_acquire);  // W1
    for (std::size_t i = 0; i < workers_; ++i)
      begins += lanes_[i].began.load(std::memory_order_relaxed);                      // relaxed: W1
    return ends == begins + (outside_.load(std::memory_order_relaxed) & units_mask);  // relaxed: W1
  }

  std::unique_ptr<lane[]> lanes_;
  std::size_t workers_;
  alignas(cache_line_size) atomic<std::uint64_t> outside_{0};
  alignas(cache_line_size) atomic<std::uint32_t> waiters_{0};
  typename Env::park_word word_;
};

}  // namespace heist
