// Bodies of vector.hpp.
#pragma once

#include "heist/core/base/vector.hpp"

#include <cstdint>  // PTRDIFF_MAX

#include "heist/core/base/large_memory.hpp"

namespace heist::detail {

HEIST_COLD_BODY void* larger_memory(std::size_t& capacity, std::size_t needed, std::size_t size,
                                    std::align_val_t alignment) {
  std::size_t const count = needed > 2 * capacity ? needed : 2 * capacity;
  if (count > static_cast<std::size_t>(PTRDIFF_MAX) / size) throw std::bad_array_new_length{};
  bool const is_usual = static_cast<std::size_t>(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  void* const memory = large_memory::fits(count * size, static_cast<std::size_t>(alignment))
                           ? large_memory::allocate(count * size)
                       : is_usual ? ::operator new(count* size)
                                  : ::operator new(count* size, alignment);
  capacity = count;
  return memory;
}

HEIST_COLD_BODY void free_memory(void* memory, std::size_t bytes, std::align_val_t alignment) noexcept {
  if (large_memory::fits(bytes, static_cast<std::size_t>(alignment))) {
    large_memory::free(memory, bytes);
  } else if (static_cast<std::size_t>(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
    ::operator delete(memory);
  } else {
    ::operator delete(memory, alignment);
  }
}

}  // namespace heist::detail
