// A vector whose first elements need no memory of their own.
#pragma once

#include <algorithm>  // equal, move, rotate
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <memory>  // destroy, uninitialized_*
#include <new>
#include <utility>  // exchange, forward, move

namespace tf {

/// As std::vector; the first N elements stand inside of it. A move moves these one by one.
template <class T, unsigned N = 2>
class SmallVector {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = T const&;
  using pointer = T*;
  using const_pointer = T const*;
  using iterator = T*;
  using const_iterator = T const*;
  using reverse_iterator = std::reverse_iterator<T*>;
  using const_reverse_iterator = std::reverse_iterator<T const*>;

  SmallVector() noexcept : first_{inside()} {}
  explicit SmallVector(std::size_t n, T const& value = T()) : SmallVector{} { resize(n, value); }
  SmallVector(std::initializer_list<T> list) : SmallVector{} { append(list.begin(), list.end()); }
  template <std::input_iterator I>
  SmallVector(I first, I last) : SmallVector{} {
    append(first, last);
  }
  SmallVector(SmallVector const& other) : SmallVector{} { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) : SmallVector{} { swap_in(other); }
  SmallVector& operator=(SmallVector const& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) {
    if (this != &other) {
      release();
      swap_in(other);
    }
    return *this;
  }
  SmallVector& operator=(std::initializer_list<T> list) {
    assign(list.begin(), list.end());
    return *this;
  }
  ~SmallVector() { release(); }

  std::size_t size() const noexcept { return size_; }
  std::size_t capacity() const noexcept { return room_; }
  std::size_t max_size() const noexcept { return std::numeric_limits<std::size_t>::max() / sizeof(T); }
  bool empty() const noexcept { return size_ == 0; }
  T* data() noexcept { return first_; }
  T const* data() const noexcept { return first_; }
  T* begin() noexcept { return first_; }
  T* end() noexcept { return first_ + size_; }
  T const* begin() const noexcept { return first_; }
  T const* end() const noexcept { return first_ + size_; }
  T const* cbegin() const noexcept { return begin(); }
  T const* cend() const noexcept { return end(); }
  auto rbegin() noexcept { return reverse_iterator{end()}; }
  auto rend() noexcept { return reverse_iterator{begin()}; }
  auto rbegin() const noexcept { return const_reverse_iterator{end()}; }
  auto rend() const noexcept { return const_reverse_iterator{begin()}; }
  T& operator[](std::size_t i) { return first_[i]; }
  T const& operator[](std::size_t i) const { return first_[i]; }
  T& front() { return first_[0]; }
  T const& front() const { return first_[0]; }
  T& back() { return first_[size_ - 1]; }
  T const& back() const { return first_[size_ - 1]; }

  void push_back(T const& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == room_) {
      T kept(std::forward<Args>(args)...);  // it may refer to an element
      reserve(2 * room_ + 1);
      return *::new (static_cast<void*>(first_ + size_++)) T(std::move(kept));
    }
    return *::new (static_cast<void*>(first_ + size_++)) T(std::forward<Args>(args)...);
  }
  void pop_back() { std::destroy_at(first_ + --size_); }
  void clear() noexcept {
    std::destroy(begin(), end());
    size_ = 0;
  }
  void resize(std::size_t n, T const& value = T()) {
    if (n < size_) {
      std::destroy(first_ + n, end());
    } else {
      T const kept = value;
      reserve(n);
      std::uninitialized_fill(end(), first_ + n, kept);
    }
    size_ = n;
  }
  void reserve(std::size_t n) {
    if (n <= room_) return;
    T* const larger = static_cast<T*>(::operator new (n * sizeof(T), std::align_val_t{alignof(T)}));
    std::uninitialized_move(begin(), end(), larger);
    std::destroy(begin(), end());
    free_memory();
    first_ = larger;
    room_ = n;
  }
  template <class I>
  void append(I first, I last) {
    for (; first != last; ++first) emplace_back(*first);
  }
  template <class I>
  void assign(I first, I last) {
    clear();
    append(first, last);
  }
  template <class I>
  T* insert(T* at, I first, I last) {
    std::size_t const where = static_cast<std::size_t>(at - first_), before = size_;
    append(first, last);
    std::rotate(first_ + where, first_ + before, end());
    return first_ + where;
  }
  T* insert(T* at, T value) {
    std::size_t const where = static_cast<std::size_t>(at - first_);
    emplace_back(std::move(value));
    std::rotate(first_ + where, end() - 1, end());
    return first_ + where;
  }
  T* erase(T* at) { return erase(at, at + 1); }
  T* erase(T* first, T* last) {
    T* const rest = std::move(last, end(), first);
    std::destroy(rest, end());
    size_ -= static_cast<std::size_t>(last - first);
    return first;
  }
  void swap(SmallVector& other) { std::swap(*this, other); }

  friend bool operator==(SmallVector const& a, SmallVector const& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static constexpr std::size_t inside_count = N == 0 ? 1 : N;
  T* inside() noexcept { return reinterpret_cast<T*>(inside_); }
  void free_memory() noexcept {
    if (first_ != inside()) ::operator delete (first_, std::align_val_t{alignof(T)});
  }
  void release() noexcept {
    clear();
    free_memory();
    first_ = inside();
    room_ = inside_count;
  }
  /// This one is empty and has no memory.
  void swap_in(SmallVector& other) {
    if (other.first_ == other.inside()) {
      append(std::move_iterator{other.begin()}, std::move_iterator{other.end()});
      other.clear();
    } else {
      first_ = std::exchange(other.first_, other.inside());
      room_ = std::exchange(other.room_, inside_count);
      size_ = std::exchange(other.size_, 0);
    }
  }

  T* first_;
  std::size_t size_ = 0;
  std::size_t room_ = inside_count;
  alignas(T) std::byte inside_[inside_count * sizeof(T)];
};

}  // namespace tf
