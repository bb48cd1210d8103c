// Something that resumes when several have come: the last one to come does it.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edge
//   E1  arrive: left_.fetch_sub(release) -> arrive: left_.load, fetch_sub (acquire)   what those did that came before

/// Threads  expect() before any comes; the others by any thread.
/// Cost     one locked operation each, none for an arrival that finds no other thread left to arrive.
template <class Env = os_env>
class basic_arrivals {
 public:
  void expect(std::uint32_t n) noexcept {
    left_.store(n, std::memory_order_relaxed);  // relaxed: the caller publishes it later
  }
  /// `n` of them come, 1 or more. True for the last one: it sees the effects of all other ones.
  [[nodiscard]] bool arrive(std::uint32_t n = 1) noexcept {
    // acquire: E1. The one that finds no other left to come need not count.
    if (left_.load(std::memory_order_acquire) == n) return true;
    return left_.fetch_sub(n, std::memory_order_acq_rel) == n;  // E1
  }
  /// One comes, and after this call the caller begins another one, which comes later and tells of both.
  void arrive_before_another() noexcept {
    if (left_.load(std::memory_order_acquire) == 2) {  // acquire: E1. These two are left, so no other thread counts
      left_.store(1, std::memory_order_relaxed);       // relaxed: the other one tells of it
    } else {
      left_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
    }
  }

 private:
  typename Env::template atomic<std::uint32_t> left_{0};
};

using arrivals = basic_arrivals<>;

}  // namespace heist::detail
