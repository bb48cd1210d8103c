// blocked_range: a range of values that can be divided; and the ways to divide.
#pragma once

#include <concepts>
#include <cstddef>  // ptrdiff_t, size_t
#include <type_traits>

#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

namespace tbb {

namespace detail::inline d0 {
class onetbb_split;  // of oneTBB's own containers
}

/// Of a constructor that takes half of another range, or a part of another body.
class split {
 public:
  /// For the ranges of oneTBB's own containers.
  template <class Split>
  requires std::same_as<Split, detail::onetbb_split>
  operator Split() const noexcept { return Split{}; }
};

/// Of a constructor that takes right() of left() + right() parts of another range.
class proportional_split {
 public:
  proportional_split(std::size_t left, std::size_t right) noexcept : left_{left}, right_{right} {}
  std::size_t left() const noexcept { return left_; }
  std::size_t right() const noexcept { return right_; }
  explicit operator split() const noexcept { return {}; }

 private:
  std::size_t left_, right_;
};

/// Values [begin, end). Divisible while it has more than grainsize() of them.
template <class Value>
class blocked_range {
 public:
  using const_iterator = Value;
  using size_type = std::size_t;

  blocked_range(Value begin, Value end, size_type grainsize = 1) : end_(end), begin_(begin), grainsize_{grainsize} {}
  blocked_range(blocked_range& r, split) : end_(r.end_), begin_(middle_of(r)), grainsize_{r.grainsize_} {}
  blocked_range(blocked_range& r, proportional_split& p)
      : end_(r.end_), begin_(part_of(r, p)), grainsize_{r.grainsize_} {}

  const_iterator begin() const { return begin_; }
  const_iterator end() const { return end_; }
  size_type size() const { return static_cast<size_type>(end_ - begin_); }
  size_type grainsize() const { return grainsize_; }
  bool empty() const { return !(begin_ < end_); }
  bool is_divisible() const { return grainsize_ < size(); }

 private:
  static Value middle_of(blocked_range& r) { return cut(r, r.size() / 2); }
  static Value part_of(blocked_range& r, proportional_split const& p) {
    double const right = static_cast<double>(r.size()) * static_cast<double>(p.right());
    return cut(r, r.size() - static_cast<size_type>(right / static_cast<double>(p.left() + p.right()) + 0.5));
  }
  static Value cut(blocked_range& r, size_type left) { return r.end_ = advanced(r.begin_, left); }
  static Value advanced(Value const& v, size_type n) {
    if constexpr (std::is_integral_v<Value>) {
      return static_cast<Value>(v + static_cast<Value>(n));
    } else if constexpr (requires(Value a) { static_cast<Value>(a + static_cast<std::ptrdiff_t>(1)); }) {
      return static_cast<Value>(v + static_cast<std::ptrdiff_t>(n));
    } else {
      return v + n;
    }
  }

  Value end_, begin_;
  size_type grainsize_;
};

namespace detail {

/// Which of some dimensions is divided: the one with most grains.
template <class Range>
double grains(Range const& r) {
  return static_cast<double>(r.size()) / static_cast<double>(r.grainsize());
}

}  // namespace detail
}  // namespace tbb
