// The random numbers of the NAS Parallel Benchmarks: x becomes 5^13 x mod 2^46 (NAS report RNR-94-007, section 2.3).
#pragma once

#include <cstdint>

namespace replay {

class nas_random {
 public:
  /// The next number of (0, 1).
  double operator()() {
    state_ = state_ * multiplier & (modulus - 1);  // the overflow beyond 2^64 is a multiple of 2^46
    return static_cast<double>(state_) * 0x1p-46;
  }

 private:
  static constexpr std::uint64_t multiplier = 1'220'703'125;  // 5^13
  static constexpr std::uint64_t modulus = std::uint64_t{1} << 46;

  std::uint64_t state_ = 314'159'265;
};

}  // namespace replay
