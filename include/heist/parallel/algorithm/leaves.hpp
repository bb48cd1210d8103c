// The fixed tree of reductions and scans: leaves that depend on the length of the range alone, joined in pairs.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <functional>  // plus, multiplies
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/options.hpp"

namespace heist::detail {

/// How a range of n elements is cut: by n and by types alone. Changing a number here changes the bits of floating-point
/// sums.
struct leaves {
  /// At most `most` leaves, unless they would be longer than `max_length`, and none shorter than `min_length` but the last.
  explicit constexpr leaves(std::size_t elements, std::size_t min_length = 1, std::size_t most = 512,
                            std::size_t max_length = 4096) noexcept
      : n{elements} {
    length = (n + most - 1) / most;
    if (length < min_length) length = min_length;
    if (length > max_length) length = max_length;
    count = (n + length - 1) / length;
  }
  constexpr std::size_t begin(std::size_t leaf) const noexcept { return leaf * length; }
  constexpr std::size_t end(std::size_t leaf) const noexcept { return leaf + 1 < count ? (leaf + 1) * length : n; }

  std::size_t n;
  std::size_t length;
  std::size_t count;
};

/// A grain of so many elements, in leaves.
inline std::size_t leaves_of_grain(loop_options const& wanted, leaves const& cut) noexcept {
  if (wanted.grain == loop_options::automatic) return wanted.grain;
  return wanted.grain / cut.length + (wanted.grain % cut.length != 0 ? 1 : 0);
}

/// A value for each leaf, set once by the worker that computes it.
template <class T>
class leaf_values {
  static constexpr bool is_plain = std::is_trivially_default_constructible_v<T> && std::is_trivially_destructible_v<T>;

 public:
  explicit leaf_values(std::size_t n) {
    if constexpr (is_plain) {
      values_ = make_unique_for_overwrite<T[]>(n);
    } else {
      values_ = make_unique<std::optional<T>[]>(n);
    }
  }
  template <class Value>
  void set(std::size_t i, Value&& value) {
    if constexpr (is_plain) {
      values_[i] = std::forward<Value>(value);
    } else {
      values_[i].emplace(std::forward<Value>(value));
    }
  }
  T& operator[](std::size_t i) noexcept {
    if constexpr (is_plain) {
      return values_[i];
    } else {
      return *values_[i];
    }
  }

 private:
  unique_ptr<std::conditional_t<is_plain, T, std::optional<T>>[]> values_;
};

/// Can operands be exchanged, with the same bits, and does an operation take next to no time?
template <class T, class Op>
inline constexpr bool is_plain_arithmetic = false;
template <class T, class U>
requires std::is_arithmetic_v<T> &&
    (std::is_void_v<U> || std::is_arithmetic_v<U>)inline constexpr bool is_plain_arithmetic<T, std::plus<U>> = true;
template <class T, class U>
requires std::is_arithmetic_v<T> &&
    (std::is_void_v<U> ||
     std::is_arithmetic_v<U>)inline constexpr bool is_plain_arithmetic<T, std::multiplies<U>> = true;

// Numbers are converted as by an assignment, without the warning that one would cause in a program.

/// A sum of one element.
template <class T, class X>
HEIST_ALWAYS_INLINE T sum_of(X&& x) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(std::forward<X>(x));
  } else {
    return std::forward<X>(x);
  }
}
/// A sum of two.
template <class T, class Op, class A, class B>
HEIST_ALWAYS_INLINE T sum_of(Op& op, A&& a, B&& b) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(op(std::forward<A>(a), std::forward<B>(b)));
  } else {
    return op(std::forward<A>(a), std::forward<B>(b));
  }
}
/// Adds an element, or a sum, behind a sum.
template <class T, class Op, class X>
HEIST_ALWAYS_INLINE void add_to(T& sum, Op& op, X&& x) {
  if constexpr (std::is_arithmetic_v<T>) {
    sum = detail::sum_of<T>(op, sum, std::forward<X>(x));
  } else {
    sum = op(std::move(sum), std::forward<X>(x));
  }
}

/// Folds eight at a time, elements i, i + 8, ... with each other, which processors do at once: operands may be
/// exchanged.
template <class T, class Op, class At>
T fold_eight(Op& op, At& at, std::size_t i, std::size_t hi) {
  T a = detail::sum_of<T>(at(i)), b = detail::sum_of<T>(at(i + 1)), c = detail::sum_of<T>(at(i + 2)),
    d = detail::sum_of<T>(at(i + 3)), e = detail::sum_of<T>(at(i + 4)), f = detail::sum_of<T>(at(i + 5)),
    g = detail::sum_of<T>(at(i + 6)), h = detail::sum_of<T>(at(i + 7));
  for (i += 8; hi - i >= 8; i += 8) {
    detail::add_to(a, op, at(i));
    detail::add_to(b, op, at(i + 1));
    detail::add_to(c, op, at(i + 2));
    detail::add_to(d, op, at(i + 3));
    detail::add_to(e, op, at(i + 4));
    detail::add_to(f, op, at(i + 5));
    detail::add_to(g, op, at(i + 6));
    detail::add_to(h, op, at(i + 7));
  }
  for (; i != hi; ++i) detail::add_to(a, op, at(i));
  detail::add_to(a, op, b);
  detail::add_to(c, op, d);
  detail::add_to(e, op, f);
  detail::add_to(g, op, h);
  detail::add_to(a, op, c);
  detail::add_to(e, op, g);
  return detail::sum_of<T>(op, a, e);
}

/// Folds four quarters at a time, and then with each other: the order is kept.
template <class T, class Op, class At>
T fold_quarters(Op& op, At& at, std::size_t lo, std::size_t hi) {
  std::size_t const quarter = (hi - lo) / 4;
  T a = detail::sum_of<T>(at(lo)), b = detail::sum_of<T>(at(lo + quarter)), c = detail::sum_of<T>(at(lo + 2 * quarter)),
    d = detail::sum_of<T>(at(lo + 3 * quarter));
  for (std::size_t i = lo + 1; i != lo + quarter; ++i) {
    detail::add_to(a, op, at(i));
    detail::add_to(b, op, at(i + quarter));
    detail::add_to(c, op, at(i + 2 * quarter));
    detail::add_to(d, op, at(i + 3 * quarter));
  }
  for (std::size_t i = lo + 4 * quarter; i != hi; ++i) detail::add_to(d, op, at(i));
  detail::add_to(a, op, b);
  detail::add_to(c, op, d);
  return detail::sum_of<T>(op, a, c);
}

/// The result type of an `at`.
template <class At>
using element_of = decltype(std::declval<At&>()(std::size_t{}));
/// A sum begins with so many elements: with one if that converts to the sum's type, else with what op makes of two.
template <class T, class At>
inline constexpr std::size_t min_in_sum = std::is_convertible_v<element_of<At>, T> ? 1 : 2;

/// Folds at(lo), ... at(hi - 1), at least min_in_sum: a long leaf of numbers several at a time, other leaves from left
/// to right.
template <class T, bool AnyOrder, class Op, class At>
T fold_leaf(Op& op, At& at, std::size_t lo, std::size_t hi) {
  if constexpr (min_in_sum<T, At> == 2) {
    T all = detail::sum_of<T>(op, at(lo), at(lo + 1));
    for (lo += 2; lo != hi; ++lo) detail::add_to(all, op, at(lo));
    return all;
  } else {
    if constexpr (std::is_arithmetic_v<T>) {
      if (hi - lo >= 16) {
        if constexpr ((AnyOrder ||
                       is_plain_arithmetic<T, Op>)&&std::is_arithmetic_v<std::remove_cvref_t<element_of<At>>>) {
          return detail::fold_eight<T>(op, at, lo, hi);
        } else {
          return detail::fold_quarters<T>(op, at, lo, hi);
        }
      }
    }
    T all = detail::sum_of<T>(at(lo));
    while (++lo != hi) detail::add_to(all, op, at(lo));
    return all;
  }
}

/// Joins neighbours in pairs, then pairs of pairs, into values[0]. The first join of each level says whether the other
/// joins are worth a loop.
template <class T, class On, class Op>
void join_leaves(On& on, leaf_values<T>& values, std::size_t count, Op& op, std::stop_token const& stop) {
  for (std::size_t step = 1; step < count; step *= 2) {
    std::size_t const pairs = (count - step - 1) / (2 * step) + 1;
    auto const join = [&](std::size_t lo, std::size_t hi) {
      for (; lo != hi; ++lo) {
        detail::add_to(values[lo * 2 * step], op, std::move(values[lo * 2 * step + step]));
      }
    };
    std::uint64_t const start_time = os_env::ticks();
    join(0, 1);
    if ((os_env::ticks() - start_time) * pairs < 8 * block_ticks) {
      join(1, pairs);
    } else {
      detail::run_all_blocks(on, pairs - 1, {.stop = stop},
                             [&join](auto const*, std::size_t lo, std::size_t hi) { join(lo + 1, hi + 1); });
    }
  }
}

}  // namespace heist::detail
