// Memory in a row: the states of an execution at some moments, one behind the other.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "malloc_allocator.hpp"

namespace model {

class tape {
 public:
  void put(void const* from, std::size_t size) noexcept {
    if (at_ + size > bytes_.size()) bytes_.resize((at_ + size) * 2);
    std::memcpy(bytes_.data() + at_, from, size);
    at_ += size;
  }
  void get(void* to, std::size_t size) noexcept {
    std::memcpy(to, bytes_.data() + at_, size);
    at_ += size;
  }
  template <class T>
  void put(T const& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    put(&value, sizeof value);
  }
  template <class T>
  void get(T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    get(&value, sizeof value);
  }

  /// Where the next put() or get() is.
  std::size_t position() const noexcept { return at_; }
  void go_to(std::size_t position) noexcept { at_ = position; }

 private:
  std::vector<char, malloc_allocator<char>> bytes_;
  std::size_t at_ = 0;
};

}  // namespace model
