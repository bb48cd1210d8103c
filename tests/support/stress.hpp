// The seed that every stress test prints, and the time that it may run.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "heist/core/base/config.hpp"

namespace heist_test {

/// HEIST_TEST_SEED if it is set, otherwise a new one for every process; printed.
inline std::uint64_t stress_seed(char const* test) {
  char const* const given = std::getenv("HEIST_TEST_SEED");
  std::uint64_t const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("%s: HEIST_TEST_SEED=%llu\n", test, static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

/// `n`, times HEIST_TEST_SCALE if that is set; a tenth of it, at least 1, under sanitizers.
inline int stress_rounds(int n) {
  char const* const scale = std::getenv("HEIST_TEST_SCALE");
  double const factor = scale != nullptr ? std::strtod(scale, nullptr) : 1.0;
  double const slow = heist::under_asan || heist::under_tsan ? 0.1 : 1.0;
  double const rounds = n * factor * slow;
  return rounds < 1 ? 1 : static_cast<int>(rounds);
}

/// The limit of a watchdog: `seconds`, times HEIST_TEST_SCALE where that is above 1.
inline std::int64_t stress_limit(std::int64_t seconds) {
  char const* const scale = std::getenv("HEIST_TEST_SCALE");
  double const factor = scale != nullptr ? std::strtod(scale, nullptr) : 1.0;
  return factor > 1 ? static_cast<std::int64_t>(static_cast<double>(seconds) * factor) : seconds;
}

}  // namespace heist_test
