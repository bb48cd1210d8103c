// std::vector as heist's own code uses it. A compiler instantiates the members of std::vector for each type in every user's
// file. This one has less to instantiate.
#pragma once

#include <cstddef>  // size_t
#include <cstring>  // memcpy
#include <initializer_list>
#include <new>
#include <type_traits>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"

namespace heist::detail {

/// Allocates memory for `needed` elements of `size` bytes, or for twice `capacity` if that is more, and sets `capacity`.
/// The caller moves the elements. Throws std::bad_alloc.
HEIST_RARE void* larger_memory(std::size_t& capacity, std::size_t needed, std::size_t size, std::align_val_t alignment);
/// The same of `count` elements.
template <class T>
T* allocate_memory(std::size_t count) {
  std::size_t capacity = 0;
  return static_cast<T*>(larger_memory(capacity, count, sizeof(T), std::align_val_t{alignof(T)}));
}
/// `bytes`: as allocated.
HEIST_RARE void free_memory(void* memory, std::size_t bytes, std::align_val_t alignment) noexcept;
/// Of allocate_memory().
template <class T>
void free_memory(T* memory, std::size_t count) noexcept {
  free_memory(memory, count * sizeof(T), std::align_val_t{alignof(T)});
}

/// The part of std::vector that heist needs. Two rules differ. Moving a T never throws. If a constructor throws, resize()
/// and append() keep the elements that they have made.
template <class T>
class vector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = T const*;

  vector() noexcept = default;
  explicit vector(std::size_t count) : vector{nothing{}} { resize(count); }
  vector(std::size_t count, T const& value) : vector{nothing{}} { resize(count, value); }
  vector(std::initializer_list<T> values) : vector{nothing{}} { append(values.begin(), values.end()); }
  template <class Iterator>
  requires(!std::is_integral_v<Iterator>) vector(Iterator first, Iterator last) : vector{nothing{}} {
    append(first, last);
  }
  vector(vector const& other) : vector{nothing{}} { append(other.begin(), other.end()); }
  vector(vector&& other) noexcept { swap(other); }
  vector& operator=(vector other) noexcept {
    swap(other);
    return *this;
  }
  ~vector() {
    clear();
    if (elements_ != nullptr) free_memory(elements_, capacity_ * bytes, alignment);
  }
  void swap(vector& other) noexcept {
    swap_values(elements_, other.elements_);
    swap_values(size_, other.size_);
    swap_values(capacity_, other.capacity_);
  }

  T* begin() noexcept { return elements_; }
  T* end() noexcept { return elements_ + size_; }
  T const* begin() const noexcept { return elements_; }
  T const* end() const noexcept { return elements_ + size_; }
  T* data() noexcept { return elements_; }
  T const* data() const noexcept { return elements_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return capacity_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return elements_[i]; }
  T const& operator[](std::size_t i) const noexcept { return elements_[i]; }
  T& front() noexcept { return *elements_; }
  T const& front() const noexcept { return *elements_; }
  T& back() noexcept { return elements_[size_ - 1]; }
  T const& back() const noexcept { return elements_[size_ - 1]; }

  void reserve(std::size_t count) {
    if (count > capacity_) grow(count);
  }
  /// `args` may be of this vector.
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T made(static_cast<Args&&>(args)...);
      grow(size_ + 1);
      return construct(static_cast<T&&>(made));
    }
    return construct(static_cast<Args&&>(args)...);
  }
  void push_back(T const& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(static_cast<T&&>(value)); }
  void pop_back() noexcept { shrink(size_ - 1); }
  void clear() noexcept { shrink(0); }
  void resize(std::size_t count) {
    reserve(count);
    shrink(count);
    while (size_ < count) construct();
  }
  void resize(std::size_t count, T const& value) {
    reserve(count);
    shrink(count);
    while (size_ < count) construct(value);
  }
  void assign(std::size_t count, T const& value) {
    clear();
    resize(count, value);
  }
  /// Adds them at the end. They are not elements of this vector.
  template <class Iterator>
  void append(Iterator first, Iterator last) {
    reserve(size_ + static_cast<std::size_t>(last - first));
    for (; first != last; ++first) construct(*first);
  }
  T* insert(T const* before, T value) {
    auto const index = before - elements_;
    emplace_back(static_cast<T&&>(value));
    T* const at = elements_ + index;
    for (T* p = end() - 1; p != at; --p) swap_values(*p, *(p - 1));
    return at;
  }
  T* erase(T const* first, T const* last) noexcept {
    T* const at = elements_ + (first - elements_);
    T* to = at;
    for (T* from = elements_ + (last - elements_); from != end(); ++from, ++to) *to = static_cast<T&&>(*from);
    shrink(static_cast<std::size_t>(to - elements_));
    return at;
  }
  T* erase(T const* at) noexcept { return erase(at, at + 1); }

  friend bool operator==(vector const& a, vector const& b) noexcept {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i != a.size_; ++i) {
      if (!(a.elements_[i] == b.elements_[i])) return false;
    }
    return true;
  }

 private:
  struct nothing {};

  explicit vector(nothing) noexcept {}  // a constructor that delegates to this one and throws destroys its elements

  static constexpr std::align_val_t alignment{alignof(T)};
  static constexpr std::size_t bytes = sizeof(T[1]);  // T may be a pointer, which a bare sizeof(T) looks wrong for

  template <class U>
  static void swap_values(U& a, U& b) noexcept {
    U kept = static_cast<U&&>(a);
    a = static_cast<U&&>(b);
    b = static_cast<U&&>(kept);
  }
  template <class... Args>
  T& construct(Args&&... args) {
    T* const made = ::new (static_cast<void*>(elements_ + size_)) T(static_cast<Args&&>(args)...);
    ++size_;
    return *made;
  }
  void shrink(std::size_t count) noexcept {
    if constexpr (std::is_trivially_destructible_v<T>) {
      if (count < size_) size_ = count;
    } else {
      while (size_ > count) elements_[--size_].~T();
    }
  }
  void grow(std::size_t needed) {
    std::size_t const capacity_before = capacity_;
    auto* const larger = static_cast<T*>(larger_memory(capacity_, needed, bytes, alignment));
    if constexpr (!std::is_move_constructible_v<T>) {
      HEIST_ASSERT(size_ == 0, "elements that cannot move are made by one call, in a vector that has none");
    } else if constexpr (std::is_trivially_copyable_v<T>) {
      if (size_ != 0) std::memcpy(static_cast<void*>(larger), elements_, size_ * bytes);
    } else {
      for (std::size_t i = 0; i != size_; ++i) {
        ::new (static_cast<void*>(larger + i)) T(static_cast<T&&>(elements_[i]));
        elements_[i].~T();
      }
    }
    if (elements_ != nullptr) free_memory(elements_, capacity_before * bytes, alignment);
    elements_ = larger;
  }

  T* elements_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Removes the elements for which `remove` is true, and returns their number. The other elements keep their order.
template <class T, class Remove>
std::size_t erase_if(vector<T>& v, Remove remove) {
  T* to = v.begin();
  for (T& element : v) {
    if (remove(static_cast<T const&>(element))) continue;
    if (to != &element) *to = static_cast<T&&>(element);
    ++to;
  }
  auto const removed = static_cast<std::size_t>(v.end() - to);
  v.erase(to, v.end());
  return removed;
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/base/vector.ipp"
#endif
