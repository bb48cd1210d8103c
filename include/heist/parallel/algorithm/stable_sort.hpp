// stable_sort: merge sort with a second copy of the range, by many workers.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <exception>
#include <functional>  // identity, less
#include <iterator>
#include <memory>  // construct_at, destroy_n
#include <type_traits>
#include <utility>  // exchange, move

#include "heist/core/base/env.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/merge.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/serial_sort.hpp"
#include "heist/parallel/algorithm/sort.hpp"

namespace heist {

namespace detail {

/// Room for as many elements as a range has; the elements of a range that is moved there, and back.
template <class T>
class second_copy {
 public:
  /// Elements need not be made before they are assigned to, and not be destroyed.
  static constexpr bool is_raw = std::is_trivially_copyable_v<T>;

  explicit second_copy(std::size_t n) : n_{n}, first_{allocate_memory<T>(n)} {}
  second_copy(second_copy const&) = delete;
  second_copy& operator=(second_copy const&) = delete;
  ~second_copy() {
    if constexpr (!is_raw) std::destroy_n(first_, made_);
    free_memory(first_, n_);
  }
  T* first() const noexcept { return first_; }

  /// Moves a range here and back, so that there are elements to assign to.
  template <class I>
  void make(I from) {
    if constexpr (!is_raw) {
      for (; made_ != n_; ++from) {
        T* const made = std::construct_at(first_ + made_, std::ranges::iter_move(from));
        ++made_;
        *from = std::move(*made);
      }
    }
  }

 private:
  std::size_t n_;
  T* first_;
  std::size_t made_ = 0;
};

/// A comparison whose exceptions are kept until all elements are where they belong. After one, nothing is less.
template <class Order>
class kept_order {
 public:
  explicit kept_order(Order const& less) noexcept : less_{less} {}

  template <class A, class B>
  HEIST_ALWAYS_INLINE bool operator()(A const& a, B const& b) const {
    if constexpr (!cheap_to_compare<std::remove_cvref_t<A>>) {
      if (ended()) return false;
    }
    try {
      return less_(a, b);
    } catch (...) {
      keep();
      return false;
    }
  }
  /// No more comparisons are worth while.
  bool ended() const noexcept { return ended_.load(std::memory_order_relaxed); }  // relaxed: advice
  void stop() noexcept { ended_.store(true, std::memory_order_relaxed); }         // relaxed: as above
  /// When all is still.
  void rethrow() {
    if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
  }

 private:
  HEIST_COLD void keep() const noexcept {
    std::exception_ptr e = exception_of_task();
    // relaxed: the one that is first is alone with first_, which is read after the joins
    if (!kept_.exchange(true, std::memory_order_relaxed)) first_ = std::move(e);
    ended_.store(true, std::memory_order_relaxed);  // relaxed: advice
  }
  Order less_;
  mutable os_env::atomic<bool> kept_{false}, ended_{false};
  mutable std::exception_ptr first_;
};

/// One call of stable_sort. Elements are in the range or in its second copy, part by part, and always complete.
template <class I, class Order>
class stable_sorter {
  using value = std::iter_value_t<I>;
  static constexpr std::size_t serial_merge_length = 8192, run_length = 24;

 public:
  stable_sorter(I first, value* copy, Order const& less, loop_options const& wanted) noexcept
      : first_(first), copy_{copy}, less_{less}, wanted_{wanted} {}

  /// Sorts [lo, hi); the result is in the copy, if wanted there.
  template <class Context>
  void sort(Context const& c, std::size_t lo, std::size_t hi, bool into_copy) {
    if (wanted_.stop.stop_requested()) less_.stop();
    if (hi - lo <= serial_sort_length || less_.ended()) return sort_alone(lo, hi, into_copy);
    std::size_t const middle = lo + (hi - lo) / 2;
    detail::fork_or_call(
        c, [&](Context const& left) { sort(left, lo, middle, !into_copy); },
        [&](Context const& right) { sort(right, middle, hi, !into_copy); });
    if (into_copy) {
      merge(c, detail::advanced(first_, lo), middle - lo, detail::advanced(first_, middle), hi - middle, copy_ + lo);
    } else {
      merge(c, copy_ + lo, middle - lo, copy_ + middle, hi - middle, detail::advanced(first_, lo));
    }
  }

 private:
  void sort_alone(std::size_t lo, std::size_t hi, bool into_copy) {
    if (hi - lo <= run_length || less_.ended()) {
      if (!less_.ended()) detail::insertion_sort(detail::advanced(first_, lo), detail::advanced(first_, hi), less_);
      if (into_copy) std::ranges::move(detail::advanced(first_, lo), detail::advanced(first_, hi), copy_ + lo);
      return;
    }
    std::size_t const middle = lo + (hi - lo) / 2;
    sort_alone(lo, middle, !into_copy);
    sort_alone(middle, hi, !into_copy);
    if (into_copy) {
      merge_alone(detail::advanced(first_, lo), middle - lo, detail::advanced(first_, middle), hi - middle, copy_ + lo);
    } else {
      merge_alone(copy_ + lo, middle - lo, copy_ + middle, hi - middle, detail::advanced(first_, lo));
    }
  }

  template <class Context, class From, class To>
  void merge(Context const& c, From a, std::size_t a_n, From b, std::size_t b_n, To out) {
    if (a_n + b_n <= serial_merge_length) return merge_alone(a, a_n, b, b_n, out);
    std::size_t const half = (a_n + b_n) / 2;
    std::size_t const i = detail::co_rank(half, a, a_n, b, b_n, less_);
    std::size_t const j = half - i;
    detail::fork_or_call(
        c, [&](Context const& left) { merge(left, a, i, b, j, out); },
        [&](Context const& right) {
          merge(right, detail::advanced(a, i), a_n - i, detail::advanced(b, j), b_n - j, detail::advanced(out, half));
        });
  }

  template <class From, class To>
  void merge_alone(From a, std::size_t a_n, From b, std::size_t b_n, To out) {
    From const a_end = detail::advanced(a, a_n);
    From const b_end = detail::advanced(b, b_n);
    if (a_n != 0 && b_n != 0 && !less_(*b, *(a_end - 1))) {  // in order already
      std::ranges::move(b, b_end, std::ranges::move(a, a_end, out).out);
      return;
    }
    while (a != a_end && b != b_end) {
      if constexpr (cheap_to_compare<value> && std::is_copy_assignable_v<value>) {
        bool const from_b = less_(*b, *a);
        *out = from_b ? *b : *a;
        b += from_b ? 1 : 0;
        a += from_b ? 0 : 1;
      } else if (less_(*b, *a)) {
        *out = std::ranges::iter_move(b);
        ++b;
      } else {
        *out = std::ranges::iter_move(a);
        ++a;
      }
      ++out;
    }
    std::ranges::move(b, b_end, std::ranges::move(a, a_end, out).out);
  }

  I first_;
  value* copy_;
  kept_order<Order> less_;
  loop_options const& wanted_;

 public:
  /// The first exception; or stopped_error.
  void finish() {
    less_.rethrow();
    if (wanted_.stop.stop_requested() && less_.ended()) throw_stopped();
  }
};

struct stable_sort_algorithm : random_access {
  using given = arguments<0, std::less<>, std::identity>;
  template <class On, class I, class Less = std::less<>, class Proj = std::identity>
  static I run(On& on, subrange<I> over, loop_options const& wanted, Less less = {}, Proj proj = {}) {
    auto const order = detail::checked_order<On>(over, less, proj, wanted);
    auto const first = detail::plain_iterator(over.first);
    if (over.n <= insertion_length) {
      detail::insertion_sort(first, detail::advanced(first, over.n), order);
      return over.end();
    }
    second_copy<std::iter_value_t<I>> copy{over.n};
    copy.make(first);
    stable_sorter<std::remove_cv_t<decltype(first)>, std::remove_cv_t<decltype(order)>> s{first, copy.first(), order,
                                                                                          wanted};
    detail::on_workers(on, wanted.region, [&](auto const& c) { s.sort(c, 0, over.n, false); });
    s.finish();
    return over.end();
  }
};

}  // namespace detail

/// stable_sort(on, range, less = {}, proj = {}): sorts a range; elements of which none is less than the other keep their
/// order. Returns the end of the range.
///
/// Throws  what less or proj throws, and stopped_error if options.stop was asked to stop before the end: the elements
///         are then in some order, and none is lost, unless a move throws; bad_alloc, before anything is changed.
/// Work    n log n comparisons and moves; span: log n merges, each cut into pieces of 8192. Memory for n elements is
///         allocated.
inline constexpr detail::on_range<detail::stable_sort_algorithm> stable_sort{};

}  // namespace heist
