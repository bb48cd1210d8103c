// partition, in place, by many workers.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // identity, invoke
#include <iterator>
#include <utility>  // move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/chunks.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/serial_sort.hpp"

namespace heist {

namespace detail {

/// The elements of [0, n) after `first`, by chunks, each of which divide(begin, end) has divided in two. divide()
/// returns the begin of the second part. Returns how many stand left. Exchanges the elements on the wrong side.
template <class Context, class I, class Divide>
std::size_t partition_chunks(Context const& c, I first, std::size_t n, Divide const& divide,
                             loop_options const& wanted) {
  chunks cut{n, detail::workers_of(c)};
  loop_options const inner{.stop = wanted.stop};
  detail::run_all_blocks(c, cut.count(), inner, [&](auto const*, std::size_t lo, std::size_t hi) {
    for (; lo != hi; ++lo) {
      I const begin = detail::advanced(first, cut.begin(lo));
      cut.left(lo) = static_cast<std::size_t>(divide(begin, detail::advanced(first, cut.end(lo))) - begin);
    }
  });
  std::size_t all = 0;
  for (std::size_t k = 0; k != cut.count(); ++k) all += cut.left(k);
  wrong_place const wrong_left{cut, all, true}, wrong_right{cut, all, false};
  detail::run_blocks(c, wrong_left.size(), {}, [&](auto const*, std::size_t lo, std::size_t hi) {
    wrong_place::position l{wrong_left, lo}, r{wrong_right, lo};
    for (; lo != hi; ++lo, ++l, ++r) std::ranges::iter_swap(detail::advanced(first, *l), detail::advanced(first, *r));
  });
  return all;
}

struct partition_algorithm : random_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class I, class Pred, class Proj = std::identity>
  static I run(On& on, subrange<I> over, loop_options const& wanted, Pred pred, Proj proj = {}) {
    check_moved<I>();
    check_function<Pred, std::invoke_result_t<Proj&, std::iter_reference_t<I>>>();
    check_options(wanted);
    auto const first = detail::plain_iterator(over.first);
    auto const divide = [&pred, &proj](auto begin, auto end) {
      return detail::divide_by_scanning(begin, end,
                                        [&pred, &proj](auto const& at) {
                                          return static_cast<bool>(std::invoke(pred, std::invoke(proj, *at)));
                                        })
          .middle;
    };
    return over.at(detail::on_workers(
        on, wanted.region, [&](auto const& c) { return detail::partition_chunks(c, first, over.n, divide, wanted); }));
  }
};

}  // namespace detail

/// partition(on, range, pred, proj = {}): brings the elements for which pred(proj(element)) is true to the front, in no order. Returns
/// where the other elements begin.
///
/// Throws  what a function throws, and stopped_error if options.stop was asked to stop before the end: the elements
///         have then changed places, and none is lost; bad_alloc.
/// Work    n calls of pred, and n / 2 exchanges at most; span: as for_each, and n / (8 workers). A few numbers for each
///         worker are allocated.
inline constexpr detail::on_range<detail::partition_algorithm> partition{};

}  // namespace heist
