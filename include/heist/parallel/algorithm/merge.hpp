// merge: two sorted ranges into one, cut where both have equal shares (co-ranking).
#pragma once

#include <cstddef>     // size_t
#include <functional>  // identity, less
#include <iterator>
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/serial_sort.hpp"

namespace heist {

namespace detail {

/// How many of the first `k` elements of a merge come from `a`. Of equal elements those of `a` come first (Siebert and
/// Traff, "Perfectly load-balanced, optimal, stable, parallel merge", 2013).
template <class I1, class I2, class LessBa>
std::size_t co_rank(std::size_t k, I1 a, std::size_t a_n, I2 b, std::size_t b_n, LessBa&& less_ba) {
  std::size_t lo = k > b_n ? k - b_n : 0;
  std::size_t hi = k < a_n ? k : a_n;
  while (lo < hi) {
    std::size_t const i = lo + (hi - lo) / 2;
    if (less_ba(*detail::advanced(b, k - i - 1), *detail::advanced(a, i))) {
      hi = i;
    } else {
      lo = i + 1;  // a[i] is before b[k - i - 1], which is among the first k
    }
  }
  return lo;
}

/// How far a piece of a merge has come.
struct merged {
  static constexpr std::size_t unknown = ~std::size_t{0};
  std::size_t out = unknown, a = 0, b = 0;
};

struct merge_algorithm : to_output {
  using given = arguments<1, required, std::less<>, std::identity, std::identity>;
  template <class On, class I1, class I2, class O, class Less = std::less<>, class Proj1 = std::identity,
            class Proj2 = std::identity>
  static O run(On& on, subrange<I1> left, subrange<I2> right, loop_options const& wanted, O out, Less less = {},
               Proj1 proj1 = {}, Proj2 proj2 = {}) {
    static_assert(
        reads_again<std::iter_reference_t<I1>> && reads_again<std::iter_reference_t<I2>>,
        "heist: a merge looks at elements that another worker may have moved already, so it cannot move out of "
        "them; fix it by the iterators themselves in place of std::move_iterator.");
    check_output<O>();
    check_options(wanted);
    check_function<Less, std::invoke_result_t<Proj2&, std::iter_reference_t<I2>>,
                   std::invoke_result_t<Proj1&, std::iter_reference_t<I1>>>();
    auto const a = detail::plain_iterator(left.first);
    auto const b = detail::plain_iterator(right.first);
    auto const to = detail::plain_iterator(out);
    HEIST_ASSERT(
        !detail::overlap(a, left.n, to, left.n + right.n) && !detail::overlap(b, right.n, to, left.n + right.n),
        "the output of merge() overlaps one of its inputs, so that workers overwrite elements that other workers have "
        "yet to read; fix it by an output of its own");
    auto const less_ba = [&less, &proj1, &proj2](auto&& y, auto&& x) {
      return static_cast<bool>(std::invoke(less, std::invoke(proj2, y), std::invoke(proj1, x)));
    };
    detail::fold_blocks<merged>(
        on, left.n + right.n, wanted,
        [&](merged& at, std::size_t lo, std::size_t hi) {
          if (at.out != lo) {
            at.a = detail::co_rank(lo, a, left.n, b, right.n, less_ba);
            at.b = lo - at.a;
          }
          auto x = detail::advanced(a, at.a);
          auto y = detail::advanced(b, at.b);
          auto target = detail::advanced(to, lo);
          auto const x_end = detail::advanced(a, left.n);
          auto const y_end = detail::advanced(b, right.n);
          std::size_t n = hi - lo;
          for (; n != 0 && x != x_end && y != y_end; --n, void(++target)) {
            if (less_ba(*y, *x)) {
              *target = *y;
              ++y;
            } else {
              *target = *x;
              ++x;
            }
          }
          for (; n != 0 && x != x_end; --n, void(++x), void(++target)) *target = *x;
          for (; n != 0 && y != y_end; --n, void(++y), void(++target)) *target = *y;
          at = {hi, static_cast<std::size_t>(x - a), static_cast<std::size_t>(y - b)};
        },
        [](merged&, merged&) {});
    return detail::advanced(out, left.n + right.n);
  }
};

}  // namespace detail

/// merge(on, range1, range2, out, less = {}, proj1 = {}, proj2 = {}): writes two sorted ranges as one sorted range. Of equivalent elements, the first range's come first, and each range's
/// elements keep their order. Returns the end of the output, which must not overlap the ranges.
///
/// Throws  what less, a projection or an assignment throws, and stopped_error if options.stop was asked to stop before
///         the end: some elements are then written.
/// Work    n comparisons, and the logarithm of n more for each piece; span: as for_each. Each helper allocates one
///         small object.
inline constexpr detail::on_two_ranges<detail::merge_algorithm> merge{};

}  // namespace heist
