// Simulated time, and how long something takes: always as long, or as the intervals of a Poisson process are.
#pragma once

#include <cstdint>  // uint8_t, uint64_t

#include "heist/core/base/config.hpp"
#include "heist/core/base/random.hpp"

namespace heist::sim {

/// Simulated time. Any unit, as long as a program and the costs have the same; nanoseconds in all defaults.
using ticks = std::uint64_t;

enum class law : std::uint8_t {
  fixed,       ///< always the mean
  exponential  ///< the interval between two events of a Poisson process (Wool, section 4)
};

/// How long something takes.
struct duration {
  ticks mean = 0;
  sim::law law = sim::law::fixed;

  constexpr duration() noexcept = default;
  constexpr duration(ticks t) noexcept : mean{t} {}  // NOLINT(google-explicit-constructor): a number is a duration
  constexpr duration(ticks t, sim::law l) noexcept : mean{t}, law{l} {}

  /// One of them, rounded to whole ticks. Cost: nothing if fixed, otherwise a logarithm.
  ticks draw(fast_random& random) const noexcept;
  friend constexpr bool operator==(duration, duration) = default;
};

/// Always the same.
constexpr duration fixed(ticks t) noexcept {
  return {t, law::fixed};
}
/// Each time another, as law::exponential says.
constexpr duration exponential(ticks mean) noexcept {
  return {mean, law::exponential};
}

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/duration.ipp"
#endif
