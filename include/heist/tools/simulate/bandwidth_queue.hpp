// A queue in front of a cache, a memory or a link that can deliver only so many bytes in a time.
#pragma once

#include <algorithm>  // max
#include <cstdint>
#include <utility>  // exchange

#include "heist/tools/simulate/duration.hpp"

namespace heist::sim {

/// A stage orders all its bytes at its start. A later stage waits until these have been served.
class bandwidth_queue {
 public:
  void order(std::uint64_t bytes) noexcept { ordered_ += bytes; }

  /// The present stage begins now. Returns the time until all its bytes have been served. `bandwidth`: bytes in 1000
  /// ticks; 0: no limit.
  ticks serve(ticks now, std::uint64_t bandwidth) noexcept {
    std::uint64_t const bytes = std::exchange(ordered_, 0);
    if (bytes == 0 || bandwidth == 0) return 0;
    free_ = std::max(free_, now * 1000) + bytes * 1'000'000 / bandwidth;
    return (free_ + 999) / 1000 - now;
  }

 private:
  std::uint64_t ordered_ = 0;  ///< bytes, by the present stage
  std::uint64_t free_ = 0;     ///< when all earlier orders have been served; thousandths of a tick
};

}  // namespace heist::sim
