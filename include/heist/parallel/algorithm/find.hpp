// Searches and counts: find, any_of, all_of, none_of, count, equal, mismatch, adjacent_find, is_sorted.
#pragma once

#include <algorithm>   // ranges::mismatch_result
#include <cstddef>     // size_t
#include <functional>  // identity, equal_to, invoke
#include <iterator>
#include <memory>  // addressof
#include <type_traits>
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist {

namespace detail {

/// The first i of [0, n) for which is_it(i) is true, or n.
template <class On, class IsIt>
std::size_t first_index(On& on, std::size_t n, loop_options const& wanted, IsIt is_it) {
  return detail::find_index(on, n, wanted, [&is_it](std::size_t lo, std::size_t hi) {
    local_function<IsIt> here = is_it;
    return detail::first_in_block(here, lo, hi);
  });
}

template <class Pred, class Proj, class I>
struct element_test {
  Pred* pred;
  Proj* proj;
  I first;
  HEIST_ALWAYS_INLINE bool operator()(std::size_t i) const {
    return static_cast<bool>(std::invoke(*pred, std::invoke(*proj, *detail::advanced(first, i))));
  }
};

template <class Pred, class Proj, class I>
element_test(Pred*, Proj*, I) -> element_test<Pred, Proj, I>;

template <class On, class I, class Pred, class Proj>
I find_if_of(On& on, subrange<I> in, Pred& pred, Proj& proj, loop_options const& wanted) {
  check_function<Proj, std::iter_reference_t<I>>();
  check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
  return in.at(detail::first_index(
      on, in.n, wanted, element_test{std::addressof(pred), std::addressof(proj), detail::plain_iterator(in.first)}));
}

template <class On, class I, class Pred, class Proj>
std::size_t count_if_of(On& on, subrange<I> in, Pred& pred, Proj& proj, loop_options const& wanted) {
  check_function<Proj, std::iter_reference_t<I>>();
  check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
  element_test const test{std::addressof(pred), std::addressof(proj), detail::plain_iterator(in.first)};
  return detail::fold_blocks<std::size_t>(
      on, in.n, wanted,
      [test](std::size_t& all, std::size_t lo, std::size_t hi) {
        auto const here = test;
        std::size_t n = 0;
        for (; lo != hi; ++lo) n += here(lo) ? 1 : 0;
        all += n;
      },
      [](std::size_t& lower, std::size_t& upper) { lower += upper; });
}

template <class Value>
struct equal_to_value {
  Value const* value;
  template <class T>
  HEIST_ALWAYS_INLINE bool operator()(T&& element) const {
    return static_cast<bool>(element == *value);
  }
};

/// Element i is a number and equals `value`.
template <class I, class Value>
struct number_test {
  I first;
  Value value;
  HEIST_ALWAYS_INLINE bool operator()(std::size_t i) const { return *detail::advanced(first, i) == value; }
};

template <class On, class I, class T, class Proj>
I find_of(On& on, subrange<I> in, T const& value, Proj& proj, loop_options const& wanted) {
  if constexpr (std::contiguous_iterator<I> && std::is_same_v<Proj, std::identity> && std::is_arithmetic_v<T> &&
                std::is_same_v<std::iter_value_t<I>, T>) {
    using pointer = decltype(detail::plain_iterator(in.first));
    return in.at(
        detail::first_index(on, in.n, wanted, number_test<pointer, T>{detail::plain_iterator(in.first), value}));
  } else {
    equal_to_value<T> pred{std::addressof(value)};
    return detail::find_if_of(on, in, pred, proj, wanted);
  }
}

template <class On, class I, class Pred, class Proj>
I adjacent_find_of(On& on, subrange<I> in, Pred& pred, Proj& proj, loop_options const& wanted) {
  check_options(wanted);
  if (in.n < 2) return in.end();
  auto const first = detail::plain_iterator(in.first);
  std::size_t const at = detail::first_index(on, in.n - 1, wanted, [&pred, &proj, first](std::size_t i) {
    return static_cast<bool>(std::invoke(pred, std::invoke(proj, *detail::advanced(first, i)),
                                         std::invoke(proj, *detail::advanced(first, i + 1))));
  });
  return at == in.n - 1 ? in.end() : in.at(at);
}

template <class On, class I1, class I2, class Pred, class Proj1, class Proj2>
std::size_t mismatch_of(On& on, subrange<I1> a, subrange<I2> b, Pred& pred, Proj1& proj1, Proj2& proj2,
                        loop_options const& wanted) {
  check_function<Pred, std::invoke_result_t<Proj1&, std::iter_reference_t<I1>>,
                 std::invoke_result_t<Proj2&, std::iter_reference_t<I2>>>();
  auto const x = detail::plain_iterator(a.first);
  auto const y = detail::plain_iterator(b.first);
  return detail::first_index(on, a.n < b.n ? a.n : b.n, wanted, [&pred, &proj1, &proj2, x, y](std::size_t i) {
    return !static_cast<bool>(
        std::invoke(pred, std::invoke(proj1, *detail::advanced(x, i)), std::invoke(proj2, *detail::advanced(y, i))));
  });
}

template <class On, class I1, class I2, class Pred, class Proj1, class Proj2>
bool equal_of(On& on, subrange<I1> a, subrange<I2> b, Pred& pred, Proj1& proj1, Proj2& proj2,
              loop_options const& wanted) {
  check_options(wanted);
  return a.n == b.n && detail::mismatch_of(on, a, b, pred, proj1, proj2, wanted) == a.n;
}

}  // namespace detail

// Contract of all of them
//
//   Result   that of the std algorithm: of several elements that are looked for, the first.
//   Where    as for_each; functions are called for several elements at a time. Elements far behind the first match are
//            not looked at.
//   Throws   what a function throws (also for an element that a search from the front would not have come to), and
//            stopped_error if options.stop was asked to stop before the end.
//   Work     n calls of the function at most, and some microseconds of them for each worker; span: as for_each. Counts
//            and extremes allocate one small object for each helper.

/// The first element for which pred(element), or pred(proj(element)), is true; the end if there is none.
template <class On, std::ranges::range R, class Pred>
auto find_if(On&& on, R&& r, Pred pred, loop_options const& wanted) -> std::ranges::borrowed_iterator_t<R> {
  std::identity same;
  return detail::find_if_of(on, detail::subrange_of(r), pred, same, wanted);
}
template <class On, std::ranges::range R, class Pred, class Proj = std::identity>
auto find_if(On&& on, R&& r, Pred pred, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  return detail::find_if_of(on, detail::subrange_of(r), pred, proj, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class Proj = std::identity>
I find_if(On&& on, I first, S last, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  return detail::find_if_of(on, detail::subrange_of(first, last), pred, proj, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred>
auto find_if(On&& on, I first, S last, Pred pred, loop_options const& wanted) {
  return heist::find_if(on, std::move(first), std::move(last), std::move(pred), {}, wanted);
}

/// The first element for which it is false.
template <class On, std::ranges::range R, class Pred>
auto find_if_not(On&& on, R&& r, Pred pred, loop_options const& wanted) -> std::ranges::borrowed_iterator_t<R> {
  return heist::find_if(on, r, detail::negated{std::move(pred)}, wanted);
}
template <class On, std::ranges::range R, class Pred, class Proj = std::identity>
auto find_if_not(On&& on, R&& r, Pred pred, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  return heist::find_if(on, r, detail::negated{std::move(pred)}, std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class Proj = std::identity>
I find_if_not(On&& on, I first, S last, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  return heist::find_if(on, first, last, detail::negated{std::move(pred)}, std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred>
auto find_if_not(On&& on, I first, S last, Pred pred, loop_options const& wanted) {
  return heist::find_if_not(on, std::move(first), std::move(last), std::move(pred), {}, wanted);
}

/// The first element that equals `value`.
template <class On, std::ranges::range R, class T>
auto find(On&& on, R&& r, T const& value, loop_options const& wanted) -> std::ranges::borrowed_iterator_t<R> {
  std::identity same;
  return detail::find_of(on, detail::subrange_of(r), value, same, wanted);
}
template <class On, std::ranges::range R, class T, class Proj = std::identity>
auto find(On&& on, R&& r, T const& value, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  return detail::find_of(on, detail::subrange_of(r), value, proj, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T, class Proj = std::identity>
I find(On&& on, I first, S last, T const& value, Proj proj = {}, loop_options const& wanted = {}) {
  return detail::find_of(on, detail::subrange_of(first, last), value, proj, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T>
auto find(On&& on, I first, S last, T const& value, loop_options const& wanted) {
  return heist::find(on, std::move(first), std::move(last), value, {}, wanted);
}

/// Is pred(element) true for some element, for all, for none?
template <class On, std::ranges::range R, class Pred, class Proj = std::identity>
bool any_of(On&& on, R&& r, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  auto const in = detail::subrange_of(r);
  return detail::find_if_of(on, in, pred, proj, wanted) != in.end();
}
/// As any_of; true of no elements.
template <class On, std::ranges::range R, class Pred, class Proj = std::identity>
bool all_of(On&& on, R&& r, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  return !heist::any_of(on, r, detail::negated{std::move(pred)}, std::move(proj), wanted);
}
/// As any_of; true of no elements.
template <class On, std::ranges::range R, class Pred, class Proj = std::identity>
bool none_of(On&& on, R&& r, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  return !heist::any_of(on, r, std::move(pred), std::move(proj), wanted);
}
template <class On, std::ranges::range R, class Pred>
bool any_of(On&& on, R&& r, Pred pred, loop_options const& wanted) {
  return heist::any_of(on, r, std::move(pred), std::identity{}, wanted);
}
template <class On, std::ranges::range R, class Pred>
bool all_of(On&& on, R&& r, Pred pred, loop_options const& wanted) {
  return heist::all_of(on, r, std::move(pred), std::identity{}, wanted);
}
template <class On, std::ranges::range R, class Pred>
bool none_of(On&& on, R&& r, Pred pred, loop_options const& wanted) {
  return heist::none_of(on, r, std::move(pred), std::identity{}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class Proj = std::identity>
bool any_of(On&& on, I first, S last, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::any_of(on, r, std::move(pred), std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred>
auto any_of(On&& on, I first, S last, Pred pred, loop_options const& wanted) {
  return heist::any_of(on, std::move(first), std::move(last), std::move(pred), {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class Proj = std::identity>
bool all_of(On&& on, I first, S last, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::all_of(on, r, std::move(pred), std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred>
auto all_of(On&& on, I first, S last, Pred pred, loop_options const& wanted) {
  return heist::all_of(on, std::move(first), std::move(last), std::move(pred), {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class Proj = std::identity>
bool none_of(On&& on, I first, S last, Pred pred, Proj proj = {}, loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::none_of(on, r, std::move(pred), std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred>
auto none_of(On&& on, I first, S last, Pred pred, loop_options const& wanted) {
  return heist::none_of(on, std::move(first), std::move(last), std::move(pred), {}, wanted);
}

/// How many elements there are for which pred(element), or pred(proj(element)), is true.
template <class On, std::ranges::range R, class Pred>
auto count_if(On&& on, R&& r, Pred pred, loop_options const& wanted) -> std::ranges::range_difference_t<R> {
  std::identity same;
  return static_cast<std::ranges::range_difference_t<R>>(
      detail::count_if_of(on, detail::subrange_of(r), pred, same, wanted));
}
template <class On, std::ranges::range R, class Pred, class Proj = std::identity>
auto count_if(On&& on, R&& r, Pred pred, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::range_difference_t<R> {
  return static_cast<std::ranges::range_difference_t<R>>(
      detail::count_if_of(on, detail::subrange_of(r), pred, proj, wanted));
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class Proj = std::identity>
std::iter_difference_t<I> count_if(On&& on, I first, S last, Pred pred, Proj proj = {},
                                   loop_options const& wanted = {}) {
  return static_cast<std::iter_difference_t<I>>(
      detail::count_if_of(on, detail::subrange_of(first, last), pred, proj, wanted));
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred>
auto count_if(On&& on, I first, S last, Pred pred, loop_options const& wanted) {
  return heist::count_if(on, std::move(first), std::move(last), std::move(pred), {}, wanted);
}

/// How many elements equal `value`.
template <class On, std::ranges::range R, class T>
auto count(On&& on, R&& r, T const& value, loop_options const& wanted) -> std::ranges::range_difference_t<R> {
  return heist::count_if(on, r, detail::equal_to_value<T>{std::addressof(value)}, wanted);
}
template <class On, std::ranges::range R, class T, class Proj = std::identity>
auto count(On&& on, R&& r, T const& value, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::range_difference_t<R> {
  return heist::count_if(on, r, detail::equal_to_value<T>{std::addressof(value)}, std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T, class Proj = std::identity>
std::iter_difference_t<I> count(On&& on, I first, S last, T const& value, Proj proj = {},
                                loop_options const& wanted = {}) {
  return heist::count_if(on, first, last, detail::equal_to_value<T>{std::addressof(value)}, std::move(proj), wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T>
auto count(On&& on, I first, S last, T const& value, loop_options const& wanted) {
  return heist::count(on, std::move(first), std::move(last), value, {}, wanted);
}

/// Where two ranges differ first; the ends of both, as far as the shorter one goes, if they do not.
template <class On, std::ranges::range R1, std::ranges::range R2, class Pred = std::equal_to<>,
          class Proj1 = std::identity, class Proj2 = std::identity>
auto mismatch(On&& on, R1&& a, R2&& b, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
              loop_options const& wanted = {})
    -> std::ranges::mismatch_result<std::ranges::borrowed_iterator_t<R1>, std::ranges::borrowed_iterator_t<R2>> {
  auto const x = detail::subrange_of(a);
  auto const y = detail::subrange_of(b);
  std::size_t const at = detail::mismatch_of(on, x, y, pred, proj1, proj2, wanted);
  return {x.at(at), y.at(at)};
}
template <class On, std::ranges::range R1, std::ranges::range R2>
auto mismatch(On&& on, R1&& a, R2&& b, loop_options const& wanted) {
  return heist::mismatch(on, std::forward<R1>(a), std::forward<R2>(b), {}, {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
          std::sentinel_for<I2> S2, class Pred = std::equal_to<>, class Proj1 = std::identity,
          class Proj2 = std::identity>
std::ranges::mismatch_result<I1, I2> mismatch(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {},
                                              Proj1 proj1 = {}, Proj2 proj2 = {}, loop_options const& wanted = {}) {
  auto const x = detail::subrange_of(first1, last1);
  auto const y = detail::subrange_of(first2, last2);
  std::size_t const at = detail::mismatch_of(on, x, y, pred, proj1, proj2, wanted);
  return {x.at(at), y.at(at)};
}
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
          std::sentinel_for<I2> S2>
std::ranges::mismatch_result<I1, I2> mismatch(On&& on, I1 first1, S1 last1, I2 first2, S2 last2,
                                              loop_options const& wanted) {
  return heist::mismatch(on, first1, last1, first2, last2, {}, {}, {}, wanted);
}

/// Have two ranges the same length, and equal elements?
template <class On, std::ranges::range R1, std::ranges::range R2, class Pred = std::equal_to<>,
          class Proj1 = std::identity, class Proj2 = std::identity>
bool equal(On&& on, R1&& a, R2&& b, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
           loop_options const& wanted = {}) {
  auto const x = detail::subrange_of(a);
  auto const y = detail::subrange_of(b);
  return detail::equal_of(on, x, y, pred, proj1, proj2, wanted);
}
template <class On, std::ranges::range R1, std::ranges::range R2>
bool equal(On&& on, R1&& a, R2&& b, loop_options const& wanted) {
  return heist::equal(on, a, b, {}, {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
          std::sentinel_for<I2> S2, class Pred = std::equal_to<>, class Proj1 = std::identity,
          class Proj2 = std::identity>
bool equal(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, Pred pred = {}, Proj1 proj1 = {}, Proj2 proj2 = {},
           loop_options const& wanted = {}) {
  auto const x = detail::subrange_of(first1, last1);
  auto const y = detail::subrange_of(first2, last2);
  return detail::equal_of(on, x, y, pred, proj1, proj2, wanted);
}
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
          std::sentinel_for<I2> S2>
bool equal(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, loop_options const& wanted) {
  return heist::equal(on, first1, last1, first2, last2, {}, {}, {}, wanted);
}

/// The first element for which pred(proj(element), proj(the next one)) is true; the end if there is none.
template <class On, std::ranges::range R, class Pred = std::equal_to<>, class Proj = std::identity>
auto adjacent_find(On&& on, R&& r, Pred pred = {}, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  return detail::adjacent_find_of(on, detail::subrange_of(r), pred, proj, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred = std::equal_to<>,
          class Proj = std::identity>
I adjacent_find(On&& on, I first, S last, Pred pred = {}, Proj proj = {}, loop_options const& wanted = {}) {
  return detail::adjacent_find_of(on, detail::subrange_of(first, last), pred, proj, wanted);
}
template <class On, std::ranges::range R>
auto adjacent_find(On&& on, R&& r, loop_options const& wanted) {
  return heist::adjacent_find(on, std::forward<R>(r), {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
auto adjacent_find(On&& on, I first, S last, loop_options const& wanted) {
  return heist::adjacent_find(on, std::move(first), std::move(last), {}, {}, wanted);
}

/// Is no element less than the one before it?
template <class On, std::ranges::range R, class Less = std::less<>, class Proj = std::identity>
bool is_sorted(On&& on, R&& r, Less less = {}, Proj proj = {}, loop_options const& wanted = {}) {
  auto const in = detail::subrange_of(r);
  auto is_descending = [&less](auto&& a, auto&& b) { return static_cast<bool>(std::invoke(less, b, a)); };
  return detail::adjacent_find_of(on, in, is_descending, proj, wanted) == in.end();
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Less = std::less<>,
          class Proj = std::identity>
bool is_sorted(On&& on, I first, S last, Less less = {}, Proj proj = {}, loop_options const& wanted = {}) {
  detail::iterator_pair const r{std::move(first), std::move(last)};
  return heist::is_sorted(on, r, std::move(less), std::move(proj), wanted);
}
template <class On, std::ranges::range R>
auto is_sorted(On&& on, R&& r, loop_options const& wanted) {
  return heist::is_sorted(on, std::forward<R>(r), {}, {}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
auto is_sorted(On&& on, I first, S last, loop_options const& wanted) {
  return heist::is_sorted(on, std::move(first), std::move(last), {}, {}, wanted);
}

}  // namespace heist
