// The values of many tasks, as one argument: a task's view of heist::each(range), or of a range of futures that it
// comes after.
#pragma once

#include <compare>
#include <cstddef>   // size_t, ptrdiff_t
#include <iterator>  // random_access_iterator_tag
#include <type_traits>

#include "heist/core/base/result.hpp"
#include "heist/fwd.hpp"

namespace heist {
namespace detail {

/// Where values are: pointers, `stride` bytes from each other, and how far behind what each points to the value, or its
/// slot, is.
struct value_places {
  char const* first = nullptr;
  std::ptrdiff_t stride = 0, offset = 0;
};

struct values_access;

}  // namespace detail

/// The values of the tasks of a range, in its order: a random-access range. Copied freely; the values stay as long as
/// the task runs. `Reference`: T const&, or T& where a range of futures was given away (std::move).
template <class T, class Reference>
class values {
  using slot = detail::result_slot<T> const;

 public:
  using value_type = std::remove_cvref_t<T>;
  using reference = Reference;

  class iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_cvref_t<T>;
    using difference_type = std::ptrdiff_t;
    using reference = Reference;
    using pointer = std::remove_reference_t<Reference>*;

    iterator() noexcept = default;
    reference operator*() const noexcept {
      auto const* const to = *reinterpret_cast<char const* const*>(at_);
      // The values are not const where the tasks have no other handle.
      if constexpr (std::is_reference_v<T>) {
        return const_cast<reference>(reinterpret_cast<slot*>(to + offset_)->get());
      } else {
        return const_cast<reference>(
            *reinterpret_cast<value_type const*>(to + offset_));  // a slot begins with its value
      }
    }
    pointer operator->() const noexcept { return &**this; }
    reference operator[](difference_type n) const noexcept { return *(*this + n); }
    iterator& operator+=(difference_type n) noexcept { return at_ += n * stride_, *this; }
    iterator& operator-=(difference_type n) noexcept { return at_ -= n * stride_, *this; }
    iterator& operator++() noexcept { return *this += 1; }
    iterator& operator--() noexcept { return *this -= 1; }
    iterator operator++(int) noexcept {
      iterator const before = *this;
      return ++*this, before;
    }
    iterator operator--(int) noexcept {
      iterator const before = *this;
      return --*this, before;
    }
    friend iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
    friend iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
    friend iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
    friend difference_type operator-(iterator a, iterator b) noexcept {
      return a.at_ == b.at_ ? 0 : (a.at_ - b.at_) / a.stride_;
    }
    friend bool operator==(iterator a, iterator b) noexcept { return a.at_ == b.at_; }
    friend auto operator<=>(iterator a, iterator b) noexcept { return a.at_ <=> b.at_; }

   private:
    friend class values;
    explicit iterator(detail::value_places const& of) noexcept
        : at_{of.first}, stride_{of.stride}, offset_{of.offset} {}
    char const* at_ = nullptr;
    std::ptrdiff_t stride_ = 0, offset_ = 0;
  };
  using const_iterator = iterator;

  iterator begin() const noexcept { return iterator{places_}; }
  iterator end() const noexcept { return begin() + static_cast<std::ptrdiff_t>(count_); }
  std::size_t size() const noexcept { return count_; }
  bool empty() const noexcept { return count_ == 0; }
  /// `i` < size().
  reference operator[](std::size_t i) const noexcept { return begin()[static_cast<std::ptrdiff_t>(i)]; }

 private:
  friend struct detail::values_access;
  values(detail::value_places const& places, std::size_t n) noexcept : places_{places}, count_{n} {}

  detail::value_places places_;
  std::size_t count_;
};

namespace detail {

struct values_access {
  template <class Values>
  static Values make(value_places const& places, std::size_t n) noexcept {
    return {places, n};
  }
};

}  // namespace detail

}  // namespace heist
