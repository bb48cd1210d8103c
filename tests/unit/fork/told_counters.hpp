// A processor whose counters count what tests tell them, under policy::cats.
#pragma once

#include <cstdint>
#include <string>

#include "heist/locality/counters/hardware_counters.hpp"
#include "heist/policy.hpp"
#include "heist/tiers.hpp"

namespace heist_test {

inline constexpr std::uint64_t line = 64, kib = 1024, mib = 1024 * kib;

/// Counts on each thread.
struct told_counters {
  static inline thread_local heist::counter_values counted{};
  heist::counter_values read() const noexcept { return counted; }
  bool available() const noexcept { return true; }
  std::string why() const { return {}; }
  std::string event() const { return "lines that a test has named"; }

  /// Must not be inlined: the task may be on another thread than when its caller began.
  [[gnu::noinline]] static void touch(std::uint64_t lines, std::uint64_t instructions) noexcept {
    counted.private_misses += lines;
    counted.l1_misses += lines;
    counted.instructions += instructions;
  }
  static void touch(std::uint64_t bytes) noexcept { touch(bytes / line, 10 * bytes / line); }
};
static_assert(heist::naming_source<told_counters>);

/// One that is not allowed to count.
struct rejected_counters {
  heist::counter_values read() const noexcept { return {}; }
  bool available() const noexcept { return false; }
  std::string why() const { return "perf_event_open was refused by a test (EACCES)"; }
};

template <class Counters>
using measured_by = heist::policy::with_tier<heist::policy::cats, heist::tier::cats_measured_by<Counters>>;

}  // namespace heist_test
