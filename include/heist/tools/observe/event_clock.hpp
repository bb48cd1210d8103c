// The clock of recorded events and of what graphs tell.
#pragma once

#include <cstdint>
#include <thread>  // std::chrono::steady_clock, without its texts

namespace heist::detail {

/// Nanoseconds of steady_clock.
inline std::int64_t event_clock() noexcept {
  auto const since_epoch = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count();
}

}  // namespace heist::detail
