// Join counter: how many predecessors of a task have not finished.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edge (proof: README.md, "Why it is right")
//   J1  arrive: fetch_sub(release) -> the last arrive: fetch_sub(acquire)   what every predecessor did

/// The thread that brings it to 0 makes the task ready.
///
/// Threads  arrive() by the worker that has finished a predecessor. reset() by the task itself when it starts: all have
///          arrived, and none arrives again before it has finished.
/// Cost     one locked operation an arrival; none with a single worker.
template <class Env = os_env>
class basic_join_counter {
 public:
  /// True for the last one. `alone`: no other thread can be counting, so nothing needs to be locked.
  HEIST_ALWAYS_INLINE bool arrive(bool alone) noexcept {
    if (alone) {
      std::uint32_t const now = left_.load(std::memory_order_relaxed) - 1;  // relaxed: one thread
      left_.store(now, std::memory_order_relaxed);                          // relaxed: one thread
      return now == 0;
    }
    return left_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // J1
  }
  void reset(std::uint32_t predecessors) noexcept {
    left_.store(predecessors, std::memory_order_relaxed);  // relaxed: what the task makes ready comes later
  }

  /// How many have not arrived. Call it when no thread arrives any more.
  std::uint32_t left() const noexcept { return left_.load(std::memory_order_relaxed); }  // relaxed: a run has ended

 private:
  typename Env::template atomic<std::uint32_t> left_;
};

using join_counter = basic_join_counter<>;

}  // namespace heist::detail
