// How many frames run or can run: the thread that takes off the last one learns that there is none.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edge (README.md, "Turns")
//   E1  remove: count_.fetch_sub(release) -> remove: count_.fetch_sub(acquire), wait_ended: count_.load(acquire)
//                                            what all did before they were taken off

/// A frame counts from its add() to its remove(); at first there is one.
///
/// Threads  add(), remove(), end(): by frames that count, for themselves or for frames that they let run;
///          wait_ended(): any.
/// Cost     one locked addition each; wait_ended() yields until it is over.
/// Promises remove() does not touch the count after its subtraction: when wait_ended() returns it may be destroyed.
template <class Env = os_env>
class live_count {
 public:
  /// One more; before another thread can run it.
  void add() noexcept {
    count_.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller counts, and its remove() publishes it
  }
  /// One less; the caller's last look, unless it was the last one and end() has not been called. Then the result is
  /// true, no other frame is in any member, and the caller sees the effects of all.
  [[nodiscard]] bool remove() noexcept {
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // E1
  }
  /// From now on remove() is never true. To be called once.
  void end() noexcept {
    count_.fetch_add(ended, std::memory_order_relaxed);  // relaxed: as in add()
  }
  /// Returns when end() has been called and none is left.
  void wait_ended() const noexcept {
    while (count_.load(std::memory_order_acquire) != ended) Env::yield();  // E1
  }

 private:
  static constexpr std::uint32_t ended = 1u << 31;

  typename Env::template atomic<std::uint32_t> count_{1};
};

}  // namespace heist::detail
