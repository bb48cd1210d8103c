// sort, nth_element, partial_sort: quicksort in place, by many workers.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <functional>  // identity, less
#include <iterator>
#include <utility>  // move

#include "heist/core/base/env.hpp"
#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/partition.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/serial_sort.hpp"

namespace heist {

namespace detail {

/// Ranges up to here are sorted by one worker.
inline constexpr std::size_t serial_sort_length = 4096;
/// From here on several workers partition one range.
inline constexpr std::size_t parallel_partition_length = std::size_t{1} << 17;

/// Brings an element nearer to the median than choose_pivot does to the front: the median of 31 of them.
template <class I, class Order>
void choose_pivot_of_many(I first, I last, Order const& less) {
  constexpr std::iter_difference_t<I> sample = 31;
  auto const step = (last - first) / sample;
  for (std::iter_difference_t<I> i = 0; i != sample; ++i) std::ranges::iter_swap(first + i, first + i * step);
  detail::insertion_sort(first, first + sample, less);
  std::ranges::iter_swap(first, first + sample / 2);
}

/// Is the element behind element i less?
template <class I, class Order>
struct is_descending {
  I first;
  Order less;
  HEIST_ALWAYS_INLINE bool operator()(std::size_t i) const {
    return less(*detail::advanced(first, i + 1), *detail::advanced(first, i));
  }
};

/// Are as many as tell most ranges apart from those that are in order?
template <class I, class Order>
bool begins_in_order(I first, std::size_t n, Order const& less) {
  std::size_t const some = n < 65 ? n : 65;
  return n < 2 || detail::first_in_block(is_descending<I, Order>{first, less}, 0, some - 1) == some - 1;
}

/// As quicksort of a whole range, which may be in order.
template <class I, class Order>
void sort_alone(I first, std::size_t n, Order const& less) {
  if (detail::begins_in_order(first, n, less) &&
      (n < 2 || detail::first_in_block(is_descending<I, Order>{first, less}, 0, n - 1) == n - 1))
    return;
  detail::quicksort(first, detail::advanced(first, n), less, true, floor_log2(n));
}

/// One call of sort.
template <class I, class Order>
class sorter {
 public:
  sorter(Order const& less, loop_options const& wanted) noexcept
      : less_{less},
        wanted_{wanted},
        least_{wanted.grain == loop_options::automatic ? serial_sort_length : wanted.grain} {}

  template <class Context>
  void run(Context const& c, I first, I last) {
    std::uint32_t const bad = floor_log2(static_cast<std::size_t>(last - first));
    if (detail::workers_of(c) == 1 && !wanted_.stop.stop_possible()) {
      detail::sort_alone(first, static_cast<std::size_t>(last - first), less_);
    } else {
      auto const n = static_cast<std::size_t>(last - first);
      if (n < parallel_partition_length && is_in_order(c, first, n)) return;  // take_step() looks in longer ones
      sort(c, first, last, true, bad);
      if (stopped_.load(std::memory_order_relaxed)) throw_stopped();  // relaxed: after the joins
    }
  }

  /// The element that belongs at `nth` there, and no greater one before it.
  template <class Context>
  void select(Context const& c, I first, I nth, I last) {
    bool leftmost = true;
    std::uint32_t bad = floor_log2(static_cast<std::size_t>(last - first));
    while (first != last) {
      if (wanted_.stop.stop_requested()) throw_stopped();
      auto const step = take_step(c, first, last, leftmost, bad);
      if (step.done || (nth >= step.middle && nth < step.after)) return;
      if (nth < step.middle) {
        last = step.middle;
      } else {
        first = step.after;
        leftmost = false;
      }
    }
  }

 private:
  /// An exception or a stop leaves begun parts as they are: every element is somewhere.
  struct ends_if_left {
    sorter& self;
    bool returns = false;
    ~ends_if_left() {
      if (!returns) self.ended_.store(true, std::memory_order_relaxed);  // relaxed: advice
    }
  };

  template <class Context>
  void sort(Context const& c, I first, I last, bool leftmost, std::uint32_t bad) {
    if (ended_.load(std::memory_order_relaxed)) return;  // relaxed: advice
    if (wanted_.stop.stop_requested()) {
      stopped_.store(true, std::memory_order_relaxed);  // relaxed: read after the joins
      return;
    }
    ends_if_left part{*this};
    if (static_cast<std::size_t>(last - first) <= least_) {
      detail::quicksort(first, last, less_, leftmost, bad);
    } else if (auto const step = take_step(c, first, last, leftmost, bad); !step.done) {
      detail::fork_or_call(
          c, [&](Context const& left) { sort(left, first, step.middle, leftmost, bad); },
          [&](Context const& right) { sort(right, step.after, last, false, bad); });
    }
    part.returns = true;
  }

  template <class Context>
  quicksort_step<I> take_step(Context const& c, I first, I last, bool leftmost, std::uint32_t& bad) {
    std::size_t const n = static_cast<std::size_t>(last - first);
    if (n < parallel_partition_length || detail::workers_of(c) == 1)
      return detail::take_quicksort_step(first, last, less_, leftmost, bad);
    if (is_in_order(c, first, n)) return {true, last, last};
    detail::choose_pivot_of_many(first, last, less_);
    if (!leftmost && !less_(*(first - 1), *first)) {
      std::size_t const equal = divide(c, first + 1, n - 1, [&](I const& at) { return !less_(*first, *at); });
      return {false, first, first + 1 + static_cast<std::iter_difference_t<I>>(equal)};
    }
    auto const left = static_cast<std::iter_difference_t<I>>(
        divide(c, first + 1, n - 1, [&](I const& at) { return less_(*at, *first); }));
    I const pivot = first + left;
    std::ranges::iter_swap(first, pivot);
    if (left < (last - first) / 8 || last - pivot < (last - first) / 8) {
      detail::break_pattern(first, pivot);
      detail::break_pattern(pivot + 1, last);
      if (bad == 0) {
        detail::heap_sort(first, last, less_);
        return {true, last, last};
      }
      --bad;
    }
    return {false, pivot, pivot + 1};
  }

  template <class Context, class BelongsLeft>
  std::size_t divide(Context const& c, I first, std::size_t n, BelongsLeft const& pred) {
    return detail::partition_chunks(
        c, first, n, [&](I begin, I end) { return detail::divide_range(begin, end, pred).middle; }, wanted_);
  }

  /// Looks until it meets the first element that is less than the one before.
  template <class Context>
  bool is_in_order(Context const& c, I first, std::size_t n) {
    if (n < 2) return true;
    if (!detail::begins_in_order(first, n, less_)) return false;  // most ranges are not in order
    is_descending<I, Order> const descends{first, less_};
    return detail::find_index(c, n - 1, {.stop = wanted_.stop}, [&descends](std::size_t lo, std::size_t hi) {
             auto const here = descends;
             return detail::first_in_block(here, lo, hi);
           }) == n - 1;
  }

  Order const less_;
  loop_options const& wanted_;
  std::size_t const least_;
  os_env::atomic<bool> ended_{false}, stopped_{false};
};

/// The order in which a sort on `On` puts elements of that kind, once all is checked.
template <class On, class I, class Less, class Proj>
auto checked_order(subrange<I> const& over, Less& less, Proj& proj, loop_options const& wanted) {
  using element = std::iter_reference_t<I>;
  check_place<On>();
  check_moved<I>();
  check_function<Proj, element>();
  check_function<Less, std::invoke_result_t<Proj&, element>, std::invoke_result_t<Proj&, element>>();
  check_options(wanted);
  return ordering<decltype(detail::plain_iterator(over.first)), Less, Proj>{less, proj};
}

struct sort_algorithm : random_access {
  using given = arguments<0, std::less<>, std::identity>;
  template <class On, class I, class Less = std::less<>, class Proj = std::identity>
  static I run(On& on, subrange<I> over, loop_options const& wanted, Less less = {}, Proj proj = {}) {
    auto const order = detail::checked_order<On>(over, less, proj, wanted);
    auto const first = detail::plain_iterator(over.first);
    if (over.n <= serial_sort_length && wanted.region == nullptr && wanted.grain == loop_options::automatic) {
      detail::sort_alone(first, over.n, order);  // where the caller is
    } else {
      sorter<std::remove_cv_t<decltype(first)>, std::remove_cv_t<decltype(order)>> s{order, wanted};
      detail::on_workers(on, wanted.region, [&](auto const& c) { s.run(c, first, detail::advanced(first, over.n)); });
    }
    return over.end();
  }
};

template <class On, class I, class Less, class Proj>
I nth_element_of(On& on, subrange<I> over, I nth, Less& less, Proj& proj, bool sort_front, loop_options const& wanted) {
  auto const order = detail::checked_order<On>(over, less, proj, wanted);
  auto const first = detail::plain_iterator(over.first);
  auto const at = static_cast<std::size_t>(nth - over.first);
  detail::on_workers(on, wanted.region, [&](auto const& c) {
    sorter<std::remove_cv_t<decltype(first)>, std::remove_cv_t<decltype(order)>> s{order, wanted};
    if (at < over.n && over.n > 1) s.select(c, first, detail::advanced(first, at), detail::advanced(first, over.n));
    if (sort_front && at > 1) s.run(c, first, detail::advanced(first, at));
  });
  return over.end();
}

/// nth_element, and partial_sort if SortsFront.
template <bool SortsFront>
struct select_algorithm : needs_place {
  using needs_place::operator();

  template <class On, std::ranges::range R, class Less = std::less<>, class Proj = std::identity>
  auto operator()(On&& on, R&& r, std::ranges::iterator_t<R> nth, Less less = {}, Proj proj = {},
                  loop_options const& wanted = {}) const -> std::ranges::borrowed_iterator_t<R> {
    return detail::nth_element_of(on, detail::subrange_of(r), nth, less, proj, SortsFront, wanted);
  }
  template <class On, std::ranges::range R>
  auto operator()(On&& on, R&& r, std::ranges::iterator_t<R> nth, loop_options const& wanted) const {
    return (*this)(on, std::forward<R>(r), std::move(nth), {}, {}, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Less = std::less<>,
            class Proj = std::identity>
  I operator()(On&& on, I first, I nth, S last, Less less = {}, Proj proj = {}, loop_options const& wanted = {}) const {
    return detail::nth_element_of(on, detail::subrange_of(first, last), nth, less, proj, SortsFront, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
  I operator()(On&& on, I first, I nth, S last, loop_options const& wanted) const {
    return (*this)(on, std::move(first), std::move(nth), std::move(last), {}, {}, wanted);
  }
};

}  // namespace detail

// Contract of all of them
//
//   Result   that of the std algorithm; `less` is called as less(proj(a), proj(b)), for several elements at a time. They
//            return the end of the range. Elements need only be movable.
//   Where    as for_each. The grain is the most elements that one worker sorts alone, 4096 by default.
//   Throws   what less or proj throws, and stopped_error if options.stop was asked to stop before the end: the elements
//            are then in some order, and none is lost, unless a move throws; bad_alloc. A `less` that is no strict weak
//            order leads to some order.
//   Work     that of n log n comparisons, also in the worst case; span: log n partitions by all workers, and that of
//            4096 elements. Nothing is allocated but some numbers for each worker.

/// sort(on, range, less = {}, proj = {}): sorts a range; elements of which none is less than the other may change places.
inline constexpr detail::on_range<detail::sort_algorithm> sort{};
///     nth_element(on, range, nth, less = {}, proj = {})
///     nth_element(on, first, nth, last, less = {}, proj = {})
///
/// Brings the element to `nth` that would be there if the range were sorted. Greater elements are behind it then, and
/// lesser elements before it.
inline constexpr detail::select_algorithm<false> nth_element{};
///     partial_sort(on, range, middle, less = {}, proj = {})
///     partial_sort(on, first, middle, last, less = {}, proj = {})
///
/// Sorts the least elements to the front, up to `middle`. The other elements follow in no order.
inline constexpr detail::select_algorithm<true> partial_sort{};

}  // namespace heist
