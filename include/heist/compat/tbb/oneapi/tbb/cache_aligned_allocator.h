// Allocators: by the program's own operator new.
#pragma once

#include <cstddef>  // size_t
#include <new>      // align_val_t
#include <type_traits>

#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

namespace tbb {

namespace detail {

template <class T, std::size_t Alignment>
class aligned_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  aligned_allocator() = default;
  template <class U>
  aligned_allocator(aligned_allocator<U, Alignment> const&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t n) {
    if (n > max_size()) throw std::bad_array_new_length{};
    return static_cast<T*>(::operator new(n * sizeof(T), alignment()));
  }
  void deallocate(T* at, std::size_t) noexcept { ::operator delete(at, alignment()); }
  std::size_t max_size() const noexcept { return ~std::size_t{0} / (2 * sizeof(T)); }

 private:
  static constexpr std::align_val_t alignment() noexcept {
    return std::align_val_t{alignof(T) > Alignment ? alignof(T) : Alignment};
  }
};

}  // namespace detail

template <class T>
class cache_aligned_allocator : public detail::aligned_allocator<T, 64> {
 public:
  cache_aligned_allocator() = default;
  template <class U>
  cache_aligned_allocator(cache_aligned_allocator<U> const&) noexcept {}
  template <class U>
  struct rebind {
    using other = cache_aligned_allocator<U>;
  };
  template <class U>
  friend bool operator==(cache_aligned_allocator const&, cache_aligned_allocator<U> const&) noexcept {
    return true;
  }
};

template <class T>
class tbb_allocator : public detail::aligned_allocator<T, alignof(std::max_align_t)> {
 public:
  enum malloc_type { scalable, standard };
  tbb_allocator() = default;
  template <class U>
  tbb_allocator(tbb_allocator<U> const&) noexcept {}
  static malloc_type allocator_type() noexcept { return standard; }
  template <class U>
  struct rebind {
    using other = tbb_allocator<U>;
  };
  template <class U>
  friend bool operator==(tbb_allocator const&, tbb_allocator<U> const&) noexcept {
    return true;
  }
};

template <class T>
class scalable_allocator : public detail::aligned_allocator<T, alignof(std::max_align_t)> {
 public:
  scalable_allocator() = default;
  template <class U>
  scalable_allocator(scalable_allocator<U> const&) noexcept {}
  template <class U>
  struct rebind {
    using other = scalable_allocator<U>;
  };
  template <class U>
  friend bool operator==(scalable_allocator const&, scalable_allocator<U> const&) noexcept {
    return true;
  }
};

}  // namespace tbb
