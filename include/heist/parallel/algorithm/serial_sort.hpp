// The serial sort below the parallel one: a quicksort that notices patterns, and loses no element if a comparison
// throws.
#pragma once

#include <bit>      // bit_width
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>   // uncaught_exceptions
#include <functional>  // invoke
#include <iterator>
#include <memory>  // addressof
#include <type_traits>
#include <utility>  // move, swap

#include "heist/core/base/config.hpp"

// Why not std::sort: libstdc++ keeps an element aside while it compares. This element is lost if the comparison throws.
// libstdc++ also runs over the end if the comparison is no order. Here every comparison is of two elements in the
// range, or of one that a guard puts back. Every scan checks the end of the range. The ideas are those of introsort
// (Musser 1997), BlockQuicksort (Edelkamp and Weiss 2016) and pdqsort (Peters 2021).

namespace heist::detail {

/// An element that is kept aside, and where it goes back to.
template <class I>
struct hole {
  // Parentheses: in braces an element would become a list with one element where its type can be made of a list.
  explicit hole(I where) : at(where), value(std::ranges::iter_move(where)) {}
  hole(hole const&) = delete;
  hole& operator=(hole const&) = delete;
  /// Lets an exception of the move out, unless there is one already.
  ~hole() noexcept(moves_quietly) {
    if constexpr (moves_quietly) {
      *at = std::move(value);
    } else {
      try {
        *at = std::move(value);
      } catch (...) {
        if (std::uncaught_exceptions() == unwinding) throw;
      }
    }
  }

  /// The element at `from` fills the hole, which is there then.
  void move_to(I from) {
    *at = std::ranges::iter_move(from);
    at = from;
  }
  static constexpr bool moves_quietly = std::is_nothrow_assignable_v<std::iter_reference_t<I>, std::iter_value_t<I>>;
  I at;
  std::iter_value_t<I> value;
  int const unwinding = moves_quietly ? 0 : std::uncaught_exceptions();
};

/// Compares two elements by `Less` and a projection: a function object that can be kept in registers.
template <class I, class Less, class Proj>
class ordering {
 public:
  ordering(Less& less, Proj& proj) noexcept : less_{std::addressof(less)}, proj_{std::addressof(proj)} {}
  template <class A, class B>
  HEIST_ALWAYS_INLINE bool operator()(A&& a, B&& b) const {
    return static_cast<bool>(std::invoke(*less_, std::invoke(*proj_, a), std::invoke(*proj_, b)));
  }

 private:
  Less* less_;
  Proj* proj_;
};

inline constexpr std::size_t insertion_length = 24;

/// Sorts [first, last). At most `limit` moves by more than one place; false if there would be more.
template <class I, class Order>
bool insertion_sort(I first, I last, Order const& less, std::size_t limit = ~std::size_t{0}) {
  if (first == last) return true;
  std::size_t moved = 0;
  for (I i = first + 1; i != last; ++i) {
    I before = i - 1;
    if (!less(*i, *before)) continue;
    hole<I> open{i};
    do {
      open.move_to(before);
      ++moved;
    } while (before != first && less(open.value, *--before));
    if (moved > limit) return i + 1 == last;
  }
  return true;
}

template <class I, class Order>
void heap_sort(I first, I last, Order const& less) {
  using difference = std::iter_difference_t<I>;
  difference const n = last - first;
  auto const sift = [&](difference root, difference end) {
    hole<I> open{first + root};
    for (difference child = 2 * root + 1; child < end; child = 2 * (open.at - first) + 1) {
      if (child + 1 < end && less(first[child], first[child + 1])) ++child;
      if (!less(open.value, first[child])) break;
      open.move_to(first + child);
    }
  };
  for (difference i = n / 2; i-- > 0;) sift(i, n);
  for (difference end = n - 1; end > 0; --end) {
    std::ranges::iter_swap(first, first + end);
    sift(0, end);
  }
}

template <class I, class Order>
void sort_two(I a, I b, Order const& less) {
  if (less(*b, *a)) std::ranges::iter_swap(a, b);
}
template <class I, class Order>
void sort_three(I a, I b, I c, Order const& less) {
  detail::sort_two(a, b, less);
  detail::sort_two(b, c, less);
  detail::sort_two(a, b, less);
}

/// Brings an element near the median to the front.
template <class I, class Order>
void choose_pivot(I first, I last, Order const& less) {
  auto const n = last - first;
  I const middle = first + n / 2;
  if (n > 128) {
    detail::sort_three(first, middle, last - 1, less);
    detail::sort_three(first + 1, middle - 1, last - 2, less);
    detail::sort_three(first + 2, middle + 1, last - 3, less);
    detail::sort_three(middle - 1, middle, middle + 1, less);
    std::ranges::iter_swap(first, middle);
  } else {
    detail::sort_three(middle, first, last - 1, less);
  }
}

/// Where the elements begin that do not belong left.
template <class I>
struct split_range {
  I middle;
  bool was_so;  ///< nothing had to be exchanged
};

/// Elements of [left, right) with pred(where) to the left. Asks once of each, so that a comparison that answers
/// the same question in two ways cannot let the scans pass each other.
template <class I, class BelongsLeft>
split_range<I> divide_by_scanning(I left, I right, BelongsLeft const& pred) {
  for (bool was_so = true;; was_so = false, void(++left)) {
    while (left != right && pred(left)) ++left;
    if (left == right) return {left, was_so};
    --right;
    while (left != right && !pred(right)) --right;
    if (left == right) return {left, was_so};
    std::ranges::iter_swap(left, right);
  }
}

/// Moves the elements of [left, right) with pred(where) to the left. No branch depends on pred: the function
/// notes the elements of a block that are on the wrong side, then exchanges them. Calls pred twice for some
/// elements.
template <class I, class BelongsLeft>
split_range<I> divide_by_blocks(I left, I right, BelongsLeft const& pred) {
  constexpr std::size_t block = 64;
  using difference = std::iter_difference_t<I>;
  bool was_so = true;
  while (left != right && pred(left)) ++left;
  while (left != right && !pred(right - 1)) --right;
  unsigned char wrong_left[block], wrong_right[block];
  std::size_t left_noted = 0, right_noted = 0, left_done = 0, right_done = 0;
  // Before each round: [left, left + block) is noted if left_noted is not 0; as far as left_done it is exchanged.
  while (right - left > static_cast<difference>(2 * block)) {
    if (left_done == left_noted) {
      left_noted = left_done = 0;
      for (std::size_t i = 0; i != block; ++i) {
        wrong_left[left_noted] = static_cast<unsigned char>(i);
        left_noted += pred(left + static_cast<difference>(i)) ? 0 : 1;
      }
    }
    if (right_done == right_noted) {
      right_noted = right_done = 0;
      for (std::size_t i = 0; i != block; ++i) {
        wrong_right[right_noted] = static_cast<unsigned char>(i);
        right_noted += pred(right - 1 - static_cast<difference>(i)) ? 1 : 0;
      }
    }
    std::size_t const left_rest = left_noted - left_done, right_rest = right_noted - right_done;
    std::size_t const n = left_rest < right_rest ? left_rest : right_rest;
    for (std::size_t i = 0; i != n; ++i) {
      std::ranges::iter_swap(left + wrong_left[left_done + i], right - 1 - wrong_right[right_done + i]);
    }
    was_so = was_so && n == 0;
    left_done += n;
    right_done += n;
    if (left_done == left_noted) left += static_cast<difference>(block);
    if (right_done == right_noted) right -= static_cast<difference>(block);
  }
  // The rest, of which a block may be noted, is treated as unknown: one by one, and each is exchanged.
  I store = left;
  for (I i = left; i != right; ++i) {
    bool const is_left = pred(i);
    was_so = was_so && (!is_left || store == i);
    std::ranges::iter_swap(i, store);
    store += is_left ? 1 : 0;
  }
  return {store, was_so};
}

/// Can comparisons be made before their use is known? True if they are cheap.
template <class T>
inline constexpr bool cheap_to_compare = std::is_trivially_copyable_v<T> && sizeof(T) <= 64;

/// Divides [left, right) in the way that is faster for its elements.
template <class I, class BelongsLeft>
split_range<I> divide_range(I left, I right, BelongsLeft const& pred) {
  if constexpr (cheap_to_compare<std::iter_value_t<I>>) {
    return detail::divide_by_blocks(left, right, pred);
  } else {
    return detail::divide_by_scanning(left, right, pred);
  }
}

/// After a partition that was far from halving: exchanges some elements, so that a pattern does not do so again.
template <class I>
void break_pattern(I first, I last) {
  auto const n = last - first;
  if (n < static_cast<std::iter_difference_t<I>>(insertion_length)) return;
  std::ranges::iter_swap(first, first + n / 4);
  std::ranges::iter_swap(last - 1, last - n / 4);
  if (n > 128) {
    std::ranges::iter_swap(first + 1, first + (n / 4 + 1));
    std::ranges::iter_swap(first + 2, first + (n / 4 + 2));
    std::ranges::iter_swap(last - 2, last - (n / 4 + 1));
    std::ranges::iter_swap(last - 3, last - (n / 4 + 2));
  }
}

inline std::uint32_t floor_log2(std::size_t n) noexcept {
  return static_cast<std::uint32_t>(std::bit_width(n)) - (n != 0 ? 1 : 0);
}

/// One step of quicksort: the rest to sort is [first, middle) and [after, last), or nothing if `done`.
template <class I>
struct quicksort_step {
  bool done;
  I middle, after;
};

/// `leftmost`: there is no element before `first` that is not greater than all. `bad`: so many bad partitions may come.
template <class I, class Order>
quicksort_step<I> take_quicksort_step(I first, I last, Order const& less, bool leftmost, std::uint32_t& bad) {
  auto const n = last - first;
  if (n <= static_cast<std::iter_difference_t<I>>(insertion_length)) {
    detail::insertion_sort(first, last, less);
    return {true, last, last};
  }
  detail::choose_pivot(first, last, less);
  // The pivot is not greater than the one before: all equal elements go left, and are in order.
  if (!leftmost && !less(*(first - 1), *first)) {
    auto const is_equal = [&less, first](I at) { return !less(*first, *at); };
    return {false, first, detail::divide_by_scanning(first + 1, last, is_equal).middle};
  }
  auto const [middle, was_so] =
      detail::divide_range(first + 1, last, [&less, first](I at) { return less(*at, *first); });
  I const pivot = middle - 1;
  std::ranges::iter_swap(first, pivot);
  auto const left = pivot - first, right = last - (pivot + 1);
  if (left < n / 8 || right < n / 8) {
    if (bad == 0) {
      detail::heap_sort(first, last, less);
      return {true, last, last};
    }
    --bad;
    detail::break_pattern(first, pivot);
    detail::break_pattern(pivot + 1, last);
  } else if (was_so && detail::insertion_sort(first, pivot, less, 8) &&
             detail::insertion_sort(pivot + 1, last, less, 8)) {
    return {true, last, last};
  }
  return {false, pivot, pivot + 1};
}

template <class I, class Order>
void quicksort(I first, I last, Order const& less, bool leftmost, std::uint32_t bad) {
  for (;;) {
    auto const step = detail::take_quicksort_step(first, last, less, leftmost, bad);
    if (step.done) return;
    // The shorter part first: so the recursion is no deeper than the logarithm.
    if (step.middle - first < last - step.after) {
      if (first != step.middle) detail::quicksort(first, step.middle, less, leftmost, bad);
      first = step.after;
      leftmost = false;
    } else {
      detail::quicksort(step.after, last, less, false, bad);
      last = step.middle;
    }
    if (first == last) return;
  }
}

}  // namespace heist::detail
