// Sizes of memory.
#pragma once

#include <cstdint>

namespace heist_test {

inline constexpr std::uint64_t kib = 1 << 10, mib = 1 << 20;

}  // namespace heist_test
