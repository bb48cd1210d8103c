// Says which input was being read when the program dies.
#pragma once

#include <cstdint>
#include <string_view>

namespace fuzz {

/// The input that is read at present. Signal handlers read this.
struct position {
  char const* target = "";
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
};
inline position now;

/// From now on, three events print `now` and end the program with `found_exit_code`: a fatal signal, a sanitizer's
/// report, and an input that takes `seconds` of CPU time. It is CPU time, so that a loaded machine makes no difference.
void report_crashes(double seconds);
inline constexpr int found_exit_code = 1;

/// Prints a finding; safe in signal handlers. `text` in one line.
void print_found(std::string_view text, int number = -1) noexcept;

}  // namespace fuzz
