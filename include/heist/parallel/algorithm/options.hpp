// The options of a loop besides its range and its body.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <stop_token>
#include <utility>  // forward, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"

namespace heist {

class region;  // whole in <heist/locality.hpp>

/// The last argument of every algorithm; all of it may be left out. It may also stand directly behind the arguments
/// that have no default: sort(ex, v, {.grain = 100}).
struct loop_options {
  static constexpr std::size_t automatic = ~std::size_t{0};

  /// The fewest iterations that are worth a task of their own. By default the loop finds out as it runs. 0 throws
  /// algorithm_error.
  std::size_t grain = automatic;
  /// After a stop request each worker begins at most 256 further iterations. In a list it may begin 2 % of the elements.
  /// An algorithm throws stopped_error: also of an empty range, if the stop was requested before the call. A loop
  /// (for_each.hpp) that was stopped after it had begun returns false instead.
  std::stop_token stop = {};
  /// Makes the loop one run of this region. Under a policy with memory it is then divided in the same way each time,
  /// and its parts come back to where they were (context::invoke).
  heist::region* region = nullptr;
};

/// The indices from `first` up to, and without, `last`.
struct index_range {
  std::size_t first;
  std::size_t last;

  template <std::integral First, std::integral Last>
  constexpr index_range(First from, Last to) noexcept
      : first{static_cast<std::size_t>(from)}, last{static_cast<std::size_t>(to)} {
    HEIST_ASSERT(std::cmp_less_equal(from, to) && std::cmp_greater_equal(from, 0),
                 "an index_range that begins below 0 or ends before it begins; fix the order of its ends");
  }
  constexpr std::size_t size() const noexcept { return last - first; }
};

/// An operation whose operands may be taken in any order, too: what any_order(op) is.
template <class Op>
struct any_order_op {
  Op op;
  template <class A, class B>
  constexpr decltype(auto) operator()(A&& a, B&& b) const {
    return op(std::forward<A>(a), std::forward<B>(b));
  }
};

/// `any_order(std::plus{})` as the operation of a reduction: it need not give the same bits with another number of
/// workers, or the next time. Integers never need it.
inline constexpr auto any_order = []<class Op>(Op op) { return any_order_op<Op>{std::move(op)}; };

namespace detail {

/// Every algorithm calls it first, also for empty ranges. Throws algorithm_error for a grain of 0, stopped_error if the
/// stop has been requested.
void check_options(loop_options const& wanted);
[[noreturn]] HEIST_RARE void throw_stopped();

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/options.ipp"
#endif
