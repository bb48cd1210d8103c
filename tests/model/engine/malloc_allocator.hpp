// For the engine's own containers, which must not appear among the allocations of the code under test.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace model {

template <class T>
struct malloc_allocator {
  using value_type = T;
  malloc_allocator() = default;
  template <class U>
  malloc_allocator(malloc_allocator<U> const&) noexcept {}

  T* allocate(std::size_t n) noexcept {
    void* const block = std::malloc(n * sizeof(T));
    if (block == nullptr) std::abort();
    return static_cast<T*>(block);
  }
  void deallocate(T* block, std::size_t) noexcept { std::free(block); }
  friend bool operator==(malloc_allocator, malloc_allocator) noexcept { return true; }
};

}  // namespace model
