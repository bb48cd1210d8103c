// Algorithms that write each element on its own: transform, copy, fill, generate, replace, reverse.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // identity, invoke, equal_to
#include <iterator>
#include <type_traits>
#include <utility>  // iter_swap, move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

// Contract of all of them
//
//   Where, Work, span   as for_each (for_each.hpp). Nothing is allocated.
//   Functions  are called for several elements at a time, for each exactly once.
//   Throws     what a function throws, and stopped_error if options.stop was asked to stop before the end: some
//              elements are then written, and some are not.

namespace heist {

namespace detail {

template <class On, class I, class O, class F, class Proj>
O transform_of(On& on, subrange<I> from, O out, F& f, Proj& proj, loop_options const& wanted) {
  check_output<O>();
  check_function<Proj, std::iter_reference_t<I>>();
  check_function<F, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
  auto const first = detail::plain_iterator(from.first);
  auto const to = detail::plain_iterator(out);
  HEIST_ASSERT(
      !detail::overlap_in_part(first, to, from.n),
      "the output of copy() or transform() begins inside their input, or ends there, so that workers overwrite "
      "elements that other workers have yet to read; fix it by an output of its own, or the whole input");
  detail::run_all_blocks(on, from.n, wanted, [&f, &proj, first, to](auto const*, std::size_t lo, std::size_t hi) {
    local_function<F> function = f;
    local_function<Proj> view = proj;
    auto source = detail::advanced(first, lo);
    auto target = detail::advanced(to, lo);
    HEIST_UNROLL
    for (; lo != hi; ++lo, void(++source), void(++target)) *target = std::invoke(function, std::invoke(view, *source));
  });
  return detail::advanced(out, from.n);
}

template <class On, class I1, class I2, class O, class F, class Proj1, class Proj2>
O transform_two(On& on, subrange<I1> a, subrange<I2> b, O out, F& f, Proj1& proj1, Proj2& proj2,
                loop_options const& wanted) {
  check_output<O>();
  check_function<F, std::invoke_result_t<Proj1&, std::iter_reference_t<I1>>,
                 std::invoke_result_t<Proj2&, std::iter_reference_t<I2>>>();
  std::size_t const n = a.n < b.n ? a.n : b.n;
  auto const first = detail::plain_iterator(a.first);
  auto const second = detail::plain_iterator(b.first);
  auto const to = detail::plain_iterator(out);
  HEIST_ASSERT(!detail::overlap_in_part(first, to, n) && !detail::overlap_in_part(second, to, n),
               "the output of transform() begins inside one of its inputs, or ends there, so that workers overwrite "
               "elements that other workers have yet to read; fix it by an output of its own, or that whole input");
  detail::run_all_blocks(on, n, wanted,
                         [&f, &proj1, &proj2, first, second, to](auto const*, std::size_t lo, std::size_t hi) {
                           local_function<F> function = f;
                           local_function<Proj1> view1 = proj1;
                           local_function<Proj2> view2 = proj2;
                           auto x = detail::advanced(first, lo);
                           auto y = detail::advanced(second, lo);
                           auto target = detail::advanced(to, lo);
                           HEIST_UNROLL
                           for (; lo != hi; ++lo, void(++x), void(++y), void(++target))
                             *target = std::invoke(function, std::invoke(view1, *x), std::invoke(view2, *y));
                         });
  return detail::advanced(out, n);
}

/// Calls `f` with each element, which may change it.
template <class On, class I, class F>
void change_each(On& on, subrange<I> over, loop_options const& wanted, F f) {
  check_written<I>();
  auto const first = detail::plain_iterator(over.first);
  detail::run_all_blocks(on, over.n, wanted, [f, first](auto const*, std::size_t lo, std::size_t hi) mutable {
    detail::walk(first, lo, hi, f);
  });
}

}  // namespace detail

/// out[i] = f(element i), or f(proj(element i)). Returns the end of the output. `out` may be the range itself.
template <class On, std::ranges::range R, std::input_or_output_iterator O, class F>
O transform(On&& on, R&& r, O out, F f, loop_options const& wanted) {
  std::identity same;
  return detail::transform_of(on, detail::subrange_of(r), std::move(out), f, same, wanted);
}
template <class On, std::ranges::range R, std::input_or_output_iterator O, class F, class Proj = std::identity>
O transform(On&& on, R&& r, O out, F f, Proj proj = {}, loop_options const& wanted = {}) {
  return detail::transform_of(on, detail::subrange_of(r), std::move(out), f, proj, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, std::input_or_output_iterator O, class F>
O transform(On&& on, I first, S last, O out, F f, loop_options const& wanted) {
  std::identity same;
  return detail::transform_of(on, detail::subrange_of(first, last), std::move(out), f, same, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, std::input_or_output_iterator O, class F,
          class Proj = std::identity>
requires(!std::input_or_output_iterator<F>) O
    transform(On&& on, I first, S last, O out, F f, Proj proj = {}, loop_options const& wanted = {}) {
  return detail::transform_of(on, detail::subrange_of(first, last), std::move(out), f, proj, wanted);
}
/// out[i] = f(element i of the first range, element i of the second), or of their projections, as far as the shorter
/// range goes.
template <class On, std::ranges::range R1, std::ranges::range R2, std::input_or_output_iterator O, class F>
O transform(On&& on, R1&& a, R2&& b, O out, F f, loop_options const& wanted) {
  return heist::transform(on, a, b, std::move(out), std::move(f), {}, {}, wanted);
}
template <class On, std::ranges::range R1, std::ranges::range R2, std::input_or_output_iterator O, class F,
          class Proj1 = std::identity, class Proj2 = std::identity>
O transform(On&& on, R1&& a, R2&& b, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {}, loop_options const& wanted = {}) {
  return detail::transform_two(on, detail::subrange_of(a), detail::subrange_of(b), std::move(out), f, proj1, proj2,
                               wanted);
}
/// The second range is as long as the first.
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S, std::input_or_output_iterator I2,
          std::input_or_output_iterator O, class F>
requires(!std::input_or_output_iterator<F>) O
    transform(On&& on, I1 first, S last, I2 second, O out, F f, loop_options const& wanted = {}) {
  std::identity same;
  auto const a = detail::subrange_of(first, last);
  return detail::transform_two(on, a, detail::subrange<I2>{second, a.n}, std::move(out), f, same, same, wanted);
}
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
          std::sentinel_for<I2> S2, std::input_or_output_iterator O, class F, class Proj1 = std::identity,
          class Proj2 = std::identity>
O transform(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {},
            loop_options const& wanted = {}) {
  return detail::transform_two(on, detail::subrange_of(first1, last1), detail::subrange_of(first2, last2),
                               std::move(out), f, proj1, proj2, wanted);
}

/// out[i] = element i. Returns the end of the output. The ranges do not overlap.
template <class On, std::ranges::range R, std::input_or_output_iterator O>
O copy(On&& on, R&& r, O out, loop_options const& wanted = {}) {
  return heist::transform(on, r, std::move(out), std::identity{}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, std::input_or_output_iterator O>
O copy(On&& on, I first, S last, O out, loop_options const& wanted = {}) {
  return heist::transform(on, first, last, std::move(out), std::identity{}, wanted);
}

/// Makes each element equal to `value`. Returns the end of the range.
template <class On, std::ranges::range R, class T>
auto fill(On&& on, R&& r, T const& value, loop_options const& wanted = {}) -> std::ranges::borrowed_iterator_t<R> {
  auto const all = detail::subrange_of(r);
  detail::change_each(on, all, wanted, [&value](auto& at) { *at = value; });
  return all.end();
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T>
I fill(On&& on, I first, S last, T const& value, loop_options const& wanted = {}) {
  auto const all = detail::subrange_of(first, last);
  detail::change_each(on, all, wanted, [&value](auto& at) { *at = value; });
  return all.end();
}

/// Sets each element to what `f()` returns then; in no order. Returns the end of the range.
template <class On, std::ranges::range R, class F>
auto generate(On&& on, R&& r, F f, loop_options const& wanted = {}) -> std::ranges::borrowed_iterator_t<R> {
  detail::check_function<F>();
  auto const all = detail::subrange_of(r);
  detail::change_each(on, all, wanted, [&f](auto& at) { *at = std::invoke(f); });
  return all.end();
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class F>
I generate(On&& on, I first, S last, F f, loop_options const& wanted = {}) {
  detail::check_function<F>();
  auto const all = detail::subrange_of(first, last);
  detail::change_each(on, all, wanted, [&f](auto& at) { *at = std::invoke(f); });
  return all.end();
}

/// Replaces the elements for which pred(element), or pred(proj(element)), is true. Returns the end of the range.
template <class On, std::ranges::range R, class Pred, class T>
auto replace_if(On&& on, R&& r, Pred pred, T const& value, loop_options const& wanted)
    -> std::ranges::borrowed_iterator_t<R> {
  return heist::replace_if(on, r, std::move(pred), value, std::identity{}, wanted);
}
template <class On, std::ranges::range R, class Pred, class T, class Proj = std::identity>
auto replace_if(On&& on, R&& r, Pred pred, T const& value, Proj proj = {}, loop_options const& wanted = {})
    -> std::ranges::borrowed_iterator_t<R> {
  detail::check_function<Pred, std::invoke_result_t<Proj&, std::ranges::range_reference_t<R>>>();
  auto const all = detail::subrange_of(r);
  detail::change_each(on, all, wanted, [&](auto& at) {
    if (std::invoke(pred, std::invoke(proj, *at))) *at = value;
  });
  return all.end();
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class T,
          class Proj = std::identity>
I replace_if(On&& on, I first, S last, Pred pred, T const& value, Proj proj = {}, loop_options const& wanted = {}) {
  auto const all = detail::subrange_of(first, last);
  detail::check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
  detail::change_each(on, all, wanted, [&](auto& at) {
    if (std::invoke(pred, std::invoke(proj, *at))) *at = value;
  });
  return all.end();
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class Pred, class T>
auto replace_if(On&& on, I first, S last, Pred pred, T const& value, loop_options const& wanted) {
  return heist::replace_if(on, std::move(first), std::move(last), std::move(pred), value, {}, wanted);
}

/// Turns the order of the elements round. Returns the end of the range.
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
I reverse(On&& on, I first, S last, loop_options const& wanted = {}) {
  detail::check_moved<I>();
  auto const all = detail::subrange_of(first, last);
  auto const begin = detail::plain_iterator(all.first);
  detail::run_all_blocks(on, all.n / 2, wanted, [begin, n = all.n](auto const*, std::size_t lo, std::size_t hi) {
    auto front = detail::advanced(begin, lo);
    auto back = detail::advanced(begin, n - lo);
    for (; lo != hi; ++lo, void(++front)) std::ranges::iter_swap(front, --back);
  });
  return all.end();
}
template <class On, std::ranges::range R>
auto reverse(On&& on, R&& r, loop_options const& wanted = {}) -> std::ranges::borrowed_iterator_t<R> {
  auto const all = detail::subrange_of(r);
  return heist::reverse(on, all.first, all.end(), wanted);
}

}  // namespace heist
