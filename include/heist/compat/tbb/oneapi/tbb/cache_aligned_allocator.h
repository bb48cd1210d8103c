// Allocators, by the program's own operator new, and a memory resource.
#pragma once

#include <cstddef>  // size_t
#include <memory_resource>
#include <new>  // align_val_t
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

/// Blocks of another resource, or of the default one, that share no cache line with others.
class cache_aligned_resource : public std::pmr::memory_resource {
 public:
  cache_aligned_resource() : cache_aligned_resource(std::pmr::get_default_resource()) {}
  explicit cache_aligned_resource(std::pmr::memory_resource* upstream) : upstream_{upstream} {}
  std::pmr::memory_resource* upstream_resource() const { return upstream_; }

 private:
  static std::size_t whole_lines(std::size_t bytes) noexcept {
    return bytes + 63 < 64 ? bytes : (bytes + 63) / 64 * 64;
  }
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return upstream_->allocate(whole_lines(bytes), alignment < 64 ? 64 : alignment);
  }
  void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
    upstream_->deallocate(at, whole_lines(bytes), alignment < 64 ? 64 : alignment);
  }
  bool do_is_equal(std::pmr::memory_resource const& other) const noexcept override {
    auto const* const same = dynamic_cast<cache_aligned_resource const*>(&other);
    return same != nullptr && *same->upstream_ == *upstream_;
  }

  std::pmr::memory_resource* upstream_;
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
