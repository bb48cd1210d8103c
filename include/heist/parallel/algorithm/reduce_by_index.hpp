// Reductions over blocks of indices: the loop over a block is the caller's.
#pragma once

#include <concepts>
#include <cstddef>     // size_t
#include <functional>  // plus
#include <optional>
#include <type_traits>
#include <utility>  // move

#include "heist/parallel/algorithm/for_each.hpp"
#include "heist/parallel/algorithm/leaves.hpp"
#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/reduce.hpp"

namespace heist {

/// Folds the indices from `first` up to `last`, and returns the result. `body(range, so_far)` folds the indices of an
/// index_range into `so_far`, and returns the result. It may take a context in front. `so_far` is `identity` for each
/// range, so op(identity, x) must be x, as 0 is for sums. `op` joins the results of ranges in their order. The ranges
/// depend on the number of indices, the grain and types alone, as in reduce. So the result has the same bits with any
/// number of workers, except with any_order(op). A range has at least options.grain indices but the last one. The first
/// index is not negative. The result is `identity` if there are no indices.
///
/// Where, throws, work  as reduce.
template <class On, std::integral First, std::integral Last, class T, class Body, class Op = std::plus<>>
T reduce_by_index(On&& on, First first, Last last, T identity, Body body, Op op = {}, loop_options const& wanted = {}) {
  using context_type = detail::loop_context<std::remove_cvref_t<On>>;
  constexpr bool plain = std::is_invocable_r_v<T, Body&, index_range, T>;
  constexpr bool callable = std::disjunction_v<std::is_invocable_r<T, Body&, index_range, T>,
                                               std::is_invocable_r<T, Body&, context_type const&, index_range, T>>;
  static_assert(
      callable && std::is_copy_constructible_v<T> && std::is_invocable_r_v<T, Op&, T, T>,
      "heist: reduce_by_index needs a body that is callable with a heist::index_range and a value of the type of "
      "its identity, an operation on two such values, both returning one, and a type that can be copied; fix "
      "their parameters, or the type of the identity.");
  if constexpr (callable && std::is_copy_constructible_v<T> && std::is_invocable_r_v<T, Op&, T, T>) {
    detail::check_options(wanted);
    std::size_t const n = detail::count_of(first, last);
    if (n == 0) return identity;
    auto const from = index_range{first, last}.first;
    auto const call = [&](context_type const* c, std::size_t lo, std::size_t hi, T so_far) -> T {
      if constexpr (plain) {
        static_cast<void>(c);
        return body(index_range{from + lo, from + hi}, std::move(so_far));
      } else {
        return body(*c, index_range{from + lo, from + hi}, std::move(so_far));
      }
    };
    if constexpr (plain && (detail::is_exact<T, T, Op> || detail::accepts_any_order<Op>)) {
      auto all = detail::fold_blocks<std::optional<T>>(
          on, n, wanted,
          [&](std::optional<T>& sum, std::size_t lo, std::size_t hi) {
            sum.emplace(call(nullptr, lo, hi, sum ? std::move(*sum) : T(identity)));
          },
          [&op](std::optional<T>& lower, std::optional<T>& upper) {
            if (lower && upper) {
              detail::add_to(*lower, op, std::move(*upper));
            } else if (upper) {
              lower.emplace(std::move(*upper));
            }
          });
      return std::move(*all);
    } else {
      bool const automatic = wanted.grain == loop_options::automatic;
      std::size_t const least = automatic ? 1 : wanted.grain;
      detail::leaves const cut{n, least, 512, least > 4096 ? least : 4096};
      detail::leaf_values<T> sums{cut.count};
      loop_options const in_leaves{automatic ? wanted.grain : 1, wanted.stop, wanted.region};
      detail::run_all_blocks(
          on, cut.count, in_leaves,
          [&](context_type const* c, std::size_t lo, std::size_t hi) {
            for (; lo != hi; ++lo) sums.set(lo, call(c, cut.begin(lo), cut.end(lo), T(identity)));
          },
          !plain);
      detail::join_leaves(on, sums, cut.count, op, wanted.stop);
      return std::move(sums[0]);
    }
  }
  return identity;
}
template <class On, std::integral First, std::integral Last, class T, class Body>
T reduce_by_index(On&& on, First first, Last last, T identity, Body body, loop_options const& wanted) {
  return heist::reduce_by_index(on, first, last, std::move(identity), std::move(body), std::plus<>{}, wanted);
}

}  // namespace heist
