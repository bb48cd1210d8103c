// Says which input was being read when the program dies.
#pragma once

#include <cstdint>
#include <string_view>

namespace fuzz {

/// What is read at present. Read by signal handlers.
struct position {
  char const* target = "";
  std::uint64_t seed = 0;
  std::uint64_t number = 0;
};
inline position now;

/// From now on a fatal signal, a sanitizer's report, and an input that takes `seconds` of CPU time print `now` and end
/// the program with `found_exit_code`. CPU time, so that a loaded machine makes no difference.
void report_crashes(double seconds);
inline constexpr int found_exit_code = 1;

/// Prints what was found; safe in signal handlers. `text` in one line.
void print_found(std::string_view text, int number = -1) noexcept;

}  // namespace fuzz
