// Elements, comparisons and iterators that allow what the standard algorithms need, and nothing more. Each member says
// which mistake of generic code it shows.
#pragma once

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <utility>

namespace archetypes {

/// The result of comparisons: usable as a condition only.
class decision {
 public:
  explicit decision(bool is) noexcept : is_{is} {}
  explicit operator bool() const noexcept { return is_; }
  void operator!() const = delete;

 private:
  bool is_;
};

// Code that finds these by the types of its arguments does not compile: each matches as well as the library's own.
template <class... Any>
void advanced(Any&&...) = delete;
template <class... Any>
void walk(Any&&...) = delete;
template <class I, class Less>
void insertion_sort(I, I, Less) = delete;
template <class I, class Less>
void heap_sort(I, I, Less) = delete;
template <class... Any>
void transform(Any&&...) = delete;
template <class... Any>
void sort(Any&&...) = delete;
template <class... Any>
void move(Any&&...) = delete;
template <class A, class B>
void operator,(A&&, B&&) = delete;
template <class A, class B>
void operator&&(A&&, B&&) = delete;
template <class A, class B>
void operator||(A&&, B&&) = delete;

/// An element that is moved, compared by `<`, and nothing else.
class alignas(64) element {
 public:
  explicit element(int of) noexcept : key{of} {}
  /// Braces around an element make a list of one.
  element(std::initializer_list<element> list) noexcept : key{-static_cast<int>(list.size())} {}
  element(element&& other) noexcept(false) : key{std::exchange(other.key, -1000)} {}
  element& operator=(element&& other) noexcept(false) {
    int const k = std::exchange(other.key, -1000);
    key = k;
    return *this;
  }
  void operator&() const = delete;
  friend decision operator<(element const& a, element const& b) noexcept { return decision{a.key < b.key}; }

  int key;
};

/// An element that is copied, compared by `<` and `==`.
class alignas(64) copied {
 public:
  explicit copied(int of) noexcept : key{of} {}
  copied(std::initializer_list<copied> list) noexcept : key{-static_cast<int>(list.size())} {}
  copied(copied const&) noexcept(false) = default;
  copied& operator=(copied const&) noexcept(false) = default;
  void operator&() const = delete;
  friend decision operator<(copied const& a, copied const& b) noexcept { return decision{a.key < b.key}; }
  friend decision operator==(copied const& a, copied const& b) noexcept { return decision{a.key == b.key}; }

  int key;
};

/// A function object: moved, not copied; without an address.
template <class F>
class called {
 public:
  explicit called(F f) : f_(std::move(f)) {}
  called(called&&) noexcept = default;
  called& operator=(called&&) = delete;
  void operator&() const = delete;
  template <class... Args>
  decltype(auto) operator()(Args&&... args) {
    return f_(std::forward<Args>(args)...);
  }

 private:
  F f_;
};
struct key_of_it {
  int operator()(element const& e) const noexcept { return e.key; }
  int operator()(copied const& e) const noexcept { return e.key; }
};

/// An iterator of a class, with random access.
template <class T>
class iterator {
 public:
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using pointer = T*;
  using iterator_category = std::random_access_iterator_tag;

  iterator() noexcept = default;
  explicit iterator(T* at) noexcept : at_{at} {}
  iterator(iterator const&) noexcept = default;
  iterator& operator=(iterator const&) noexcept = default;
  /// Braces around an iterator lead nowhere.
  iterator(std::initializer_list<iterator>) noexcept {}
  void operator&() const = delete;

  reference operator*() const noexcept { return *at_; }
  reference operator[](difference_type n) const noexcept { return at_[n]; }
  iterator& operator+=(difference_type n) noexcept {
    at_ += n;
    return *this;
  }
  iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  iterator& operator++() noexcept { return *this += 1; }
  iterator& operator--() noexcept { return *this -= 1; }
  iterator operator++(int) noexcept {
    iterator const before(*this);
    ++at_;
    return before;
  }
  iterator operator--(int) noexcept {
    iterator const before(*this);
    --at_;
    return before;
  }
  friend iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
  friend iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
  friend iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
  friend difference_type operator-(iterator a, iterator b) noexcept { return a.at_ - b.at_; }
  friend bool operator==(iterator a, iterator b) noexcept { return a.at_ == b.at_; }
  friend auto operator<=>(iterator a, iterator b) noexcept { return a.at_ <=> b.at_; }

 private:
  T* at_ = nullptr;
};
static_assert(std::random_access_iterator<iterator<element>>);

/// The end of a range, of another type than its iterators.
template <class T>
struct sentinel {
  iterator<T> at;
  friend bool operator==(iterator<T> i, sentinel s) noexcept { return i == s.at; }
  friend std::ptrdiff_t operator-(sentinel s, iterator<T> i) noexcept { return s.at - i; }
  friend std::ptrdiff_t operator-(iterator<T> i, sentinel s) noexcept { return i - s.at; }
};
static_assert(std::sized_sentinel_for<sentinel<element>, iterator<element>>);

}  // namespace archetypes
