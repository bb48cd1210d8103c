// A map for what runs seldom.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace heist::detail {

/// Numbers by keys, which are numbers or addresses. One type for all cold code: compilers make each map anew in every
/// user's file.
using number_map = std::unordered_map<std::uint64_t, std::uint64_t>;

inline std::uint64_t as_key(void const* address) noexcept {
  return reinterpret_cast<std::uintptr_t>(address);
}
/// Also of a negative number.
constexpr std::uint64_t as_key(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number);
}

}  // namespace heist::detail
