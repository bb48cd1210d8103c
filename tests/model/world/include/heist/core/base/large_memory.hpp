// Stands for core/base/large_memory.hpp. Nothing is kept here: a harness makes its objects anew in each execution.
#pragma once

#include <cstddef>  // size_t

namespace heist::detail {

struct large_memory {
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr bool fits(std::size_t, std::size_t) noexcept { return false; }
  static void* allocate(std::size_t) { return nullptr; }
  static void free(void*, std::size_t) noexcept {}
};

}  // namespace heist::detail
