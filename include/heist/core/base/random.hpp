// A small random generator for choosing victims: 64-bit xorshift* (Marsaglia 2003, Vigna 2016).
#pragma once

#include <cstdint>

namespace heist {

/// Fast and weak: one multiply per number, no division. Unfit for statistics and for secrets.
class fast_random {
 public:
  explicit constexpr fast_random(std::uint64_t seed) noexcept
      : state_{seed * 0x9E3779B97F4A7C15u + 0xD1B54A32D192ED03u} {
    if (state_ == 0) state_ = 1;
  }

  constexpr std::uint64_t next() noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Du;
  }

  /// A number in [0, bound), bound > 0, nearly uniform (Lemire's multiply-and-shift).
  constexpr std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  std::uint64_t state_;
};

}  // namespace heist
