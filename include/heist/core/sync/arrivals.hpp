// Something that resumes when several have come: the last one to come does it.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edge
//   E1  arrive: left_.fetch_sub(release) -> arrive: left_.load, fetch_sub (acquire)   what those did that came before

/// Threads  expect() before any comes; arrive() by any thread.
/// Cost     one locked operation each, none for the last one if it sees that it is.
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

 private:
  typename Env::template atomic<std::uint32_t> left_{0};
};

using arrivals = basic_arrivals<>;

}  // namespace heist::detail
