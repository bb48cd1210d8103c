// Algorithms that write each element on its own: transform, copy, fill, generate, replace, reverse.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // identity, invoke, equal_to
#include <iterator>
#include <type_traits>
#include <utility>  // iter_swap, move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
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

struct transform_algorithm : needs_place {
  using needs_place::operator();

  template <class On, std::ranges::range R, std::input_or_output_iterator O, class F>
  O operator()(On&& on, R&& r, O out, F f, loop_options const& wanted) const {
    std::identity same;
    return detail::transform_of(on, detail::subrange_of(r), std::move(out), f, same, wanted);
  }
  template <class On, std::ranges::range R, std::input_or_output_iterator O, class F, class Proj = std::identity>
  O operator()(On&& on, R&& r, O out, F f, Proj proj = {}, loop_options const& wanted = {}) const {
    return detail::transform_of(on, detail::subrange_of(r), std::move(out), f, proj, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, std::input_or_output_iterator O, class F>
  O operator()(On&& on, I first, S last, O out, F f, loop_options const& wanted) const {
    std::identity same;
    return detail::transform_of(on, detail::subrange_of(first, last), std::move(out), f, same, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, std::input_or_output_iterator O, class F,
            class Proj = std::identity>
  requires(!std::input_or_output_iterator<F>) O operator()(On&& on, I first, S last, O out, F f, Proj proj = {},
                                                           loop_options const& wanted = {}) const {
    return detail::transform_of(on, detail::subrange_of(first, last), std::move(out), f, proj, wanted);
  }

  template <class On, std::ranges::range R1, std::ranges::range R2, std::input_or_output_iterator O, class F>
  O operator()(On&& on, R1&& a, R2&& b, O out, F f, loop_options const& wanted) const {
    return (*this)(on, a, b, std::move(out), std::move(f), {}, {}, wanted);
  }
  template <class On, std::ranges::range R1, std::ranges::range R2, std::input_or_output_iterator O, class F,
            class Proj1 = std::identity, class Proj2 = std::identity>
  O operator()(On&& on, R1&& a, R2&& b, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {},
               loop_options const& wanted = {}) const {
    return detail::transform_two(on, detail::subrange_of(a), detail::subrange_of(b), std::move(out), f, proj1, proj2,
                                 wanted);
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S, std::input_or_output_iterator I2,
            std::input_or_output_iterator O, class F>
  requires(!std::input_or_output_iterator<F>) O operator()(On&& on, I1 first, S last, I2 second, O out, F f,
                                                           loop_options const& wanted = {}) const {
    std::identity same;
    auto const a = detail::subrange_of(first, last);
    return detail::transform_two(on, a, detail::subrange<I2>{second, a.n}, std::move(out), f, same, same, wanted);
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S1, std::input_or_output_iterator I2,
            std::sentinel_for<I2> S2, std::input_or_output_iterator O, class F, class Proj1 = std::identity,
            class Proj2 = std::identity>
  O operator()(On&& on, I1 first1, S1 last1, I2 first2, S2 last2, O out, F f, Proj1 proj1 = {}, Proj2 proj2 = {},
               loop_options const& wanted = {}) const {
    return detail::transform_two(on, detail::subrange_of(first1, last1), detail::subrange_of(first2, last2),
                                 std::move(out), f, proj1, proj2, wanted);
  }
};
struct copy_algorithm : to_output {
  using given = arguments<1, required>;
  template <class On, class I, class O>
  static O run(On& on, subrange<I> from, loop_options const& wanted, O out) {
    std::identity same;
    return detail::transform_of(on, from, std::move(out), same, same, wanted);
  }
};
struct fill_algorithm : random_access {
  using given = arguments<1, required>;
  template <class On, class I, class T>
  static I run(On& on, subrange<I> all, loop_options const& wanted, T const& value) {
    detail::change_each(on, all, wanted, [&value](auto& at) { *at = value; });
    return all.end();
  }
};
struct generate_algorithm : random_access {
  using given = arguments<1, required>;
  template <class On, class I, class F>
  static I run(On& on, subrange<I> all, loop_options const& wanted, F f) {
    check_function<F>();
    detail::change_each(on, all, wanted, [&f](auto& at) { *at = std::invoke(f); });
    return all.end();
  }
};
struct replace_if_algorithm : random_access {
  using given = arguments<2, required, required, std::identity>;
  template <class On, class I, class Pred, class T, class Proj = std::identity>
  static I run(On& on, subrange<I> all, loop_options const& wanted, Pred pred, T const& value, Proj proj = {}) {
    check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
    detail::change_each(on, all, wanted, [&](auto& at) {
      if (std::invoke(pred, std::invoke(proj, *at))) *at = value;
    });
    return all.end();
  }
};
struct reverse_algorithm : random_access {
  using given = arguments<0>;
  template <class On, class I>
  static I run(On& on, subrange<I> all, loop_options const& wanted) {
    check_moved<I>();
    auto const begin = detail::plain_iterator(all.first);
    detail::run_all_blocks(on, all.n / 2, wanted, [begin, n = all.n](auto const*, std::size_t lo, std::size_t hi) {
      auto front = detail::advanced(begin, lo);
      auto back = detail::advanced(begin, n - lo);
      for (; lo != hi; ++lo, void(++front)) std::ranges::iter_swap(front, --back);
    });
    return all.end();
  }
};

}  // namespace detail

///     transform(on, range, out, f, proj = {})
///     transform(on, range1, range2, out, f, proj1 = {}, proj2 = {})
///     transform(on, first1, last1, first2, out, f)
///
/// Of one range: out[i] = f(proj(element i)). Of two: out[i] = f(element i of the first, element i of the second), or of
/// their projections, as far as the shorter range goes. In the last form the second range is as long as the first. `out`
/// may be a range itself. Returns the end of the output.
inline constexpr detail::transform_algorithm transform{};
/// copy(on, range, out): out[i] = element i. Returns the end of the output. The ranges do not overlap.
inline constexpr detail::on_range<detail::copy_algorithm> copy{};
/// fill(on, range, value): makes each element equal to `value`. Returns the end of the range.
inline constexpr detail::on_range<detail::fill_algorithm> fill{};
/// generate(on, range, f): sets each element to what `f()` returns then; in no order. Returns the end of the range.
inline constexpr detail::on_range<detail::generate_algorithm> generate{};
/// replace_if(on, range, pred, value, proj = {}): replaces the elements for which pred(proj(element)) is true. Returns the
/// end of the range.
inline constexpr detail::on_range<detail::replace_if_algorithm> replace_if{};
/// reverse(on, range): turns the order of the elements round. Returns the end of the range.
inline constexpr detail::on_range<detail::reverse_algorithm> reverse{};

}  // namespace heist
