// reduce and transform_reduce: the same result, to the bit, with any number of workers.
#pragma once

#include <concepts>
#include <cstddef>     // size_t
#include <functional>  // plus, multiplies, bit_and ...
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>  // move

#include "heist/algo/blocks.hpp"
#include "heist/algo/leaves.hpp"
#include "heist/algo/options.hpp"
#include "heist/algo/ranges.hpp"

namespace heist {

namespace detail {

/// Has the result the same bits wherever the range is cut?
template <class T, class Op>
inline constexpr bool is_exact = false;
template <std::integral T, class U>
requires std::is_void_v<U> || std::integral<U>
inline constexpr bool is_exact<T, std::plus<U>> = true;
template <std::integral T, class U>
requires std::is_void_v<U> || std::integral<U>
inline constexpr bool is_exact<T, std::multiplies<U>> = true;
template <std::integral T, class U>
requires std::is_void_v<U> || std::integral<U>
inline constexpr bool is_exact<T, std::bit_and<U>> = true;
template <std::integral T, class U>
requires std::is_void_v<U> || std::integral<U>
inline constexpr bool is_exact<T, std::bit_or<U>> = true;
template <std::integral T, class U>
requires std::is_void_v<U> || std::integral<U>
inline constexpr bool is_exact<T, std::bit_xor<U>> = true;

template <class Op>
inline constexpr bool takes_any_order = false;
template <class Op>
inline constexpr bool takes_any_order<any_order_op<Op>> = true;

/// Are both the elements and their operation to be had in next to no time? Then short leaves are not worth their number.
template <class T, class Op, class At>
inline constexpr std::size_t shortest_leaf = 1;
template <class T, class Op>
inline constexpr std::size_t shortest_leaf<T, Op, element_at<T*>> = is_plain_arithmetic<T, Op> ? 1024 : 1;
template <class T, class Op>
inline constexpr std::size_t shortest_leaf<T, Op, element_at<T const*>> = is_plain_arithmetic<T, Op> ? 1024 : 1;

/// init, then at(0), ... at(n - 1).
template <class On, class T, class Op, class At>
T reduce_of(On& on, std::size_t n, T init, Op& op, At at, loop_options const& wanted) {
  static_assert(
      std::is_invocable_r_v<T, Op&, T, T>,
      "heist: the operation of a reduction must be callable with two values of the type of its first one (the "
      "`init`), and return one; fix its parameters, or the type of the first value.");
  checked_grain(wanted);
  if (n == 0) return init;
  if constexpr (is_exact<T, Op> || takes_any_order<Op>) {
    auto all = fold_blocks<std::optional<T>>(
        on, n, wanted,
        [&op, at](std::optional<T>& sum, std::size_t lo, std::size_t hi) {
          local_function<At> element = at;
          T block = fold_leaf<T, true>(op, element, lo, hi);
          if (sum) {
            *sum = op(std::move(*sum), std::move(block));
          } else {
            sum.emplace(std::move(block));
          }
        },
        [&op](std::optional<T>& lower, std::optional<T>& upper) {
          if (lower && upper) {
            *lower = op(std::move(*lower), std::move(*upper));
          } else if (upper) {
            lower.emplace(std::move(*upper));
          }
        });
    return op(std::move(init), std::move(*all));
  } else {
    leaves const cut{n, shortest_leaf<T, Op, At>};
    if (cut.count == 1) return op(std::move(init), fold_leaf<T, false>(op, at, 0, n));
    leaf_values<T> sums{cut.count};
    loop_options const in_leaves{leaves_of_grain(wanted, cut), wanted.stop, wanted.region};
    run_all_blocks(on, cut.count, in_leaves, [&](auto const*, std::size_t lo, std::size_t hi) {
      local_function<At> element = at;
      for (; lo != hi; ++lo) sums.set(lo, fold_leaf<T, false>(op, element, cut.begin(lo), cut.end(lo)));
    });
    join_leaves(on, sums, cut.count, op, wanted.stop);
    return op(std::move(init), std::move(sums[0]));
  }
}

}  // namespace detail

// What holds for all of them
//
//   Result   op(init, everything), with the elements in their order: op is associative, and need not commute. Only sums
//            and products of numbers (std::plus, std::multiplies) exchange operands, and add eight at a time. Where the
//            range is cut depends on its length and on types alone: sums of floating-point numbers have the same bits
//            with any number of workers, policy and order; any_order(op) gives that up, and elements may then change
//            places. Another version of heist, or std::reduce, may cut in another way.
//   Where    as for_each; functions are called for several elements at a time.
//   Throws   what a function throws, stopped_error if options.stop was asked to stop before the end, bad_alloc.
//   Work     that of n calls of op; span: the logarithm of n, and some microseconds of elements. At most 512 values of
//            type T are allocated, or n / 4096 if that is more; none of numbers without a fraction, or in any order.

/// The sum of a range and `init`, or what `op` makes of them.
template <class On, std::ranges::range R, class T, class Op = std::plus<>>
T reduce(On&& on, R&& r, T init, Op op, loop_options const& wanted = {}) {
  auto const all = detail::stretch_of(r);
  return detail::reduce_of(on, all.n, std::move(init), op, detail::element_at{detail::plain_iterator(all.first)},
                           wanted);
}
template <class On, std::ranges::range R, class T>
T reduce(On&& on, R&& r, T init, loop_options const& wanted = {}) {
  return reduce(on, r, std::move(init), std::plus<>{}, wanted);
}
template <class On, std::ranges::range R>
auto reduce(On&& on, R&& r) -> std::ranges::range_value_t<R> {
  return reduce(on, r, std::ranges::range_value_t<R>{}, std::plus<>{});
}
template <class On, std::ranges::range R>
auto reduce(On&& on, R&& r, loop_options const& wanted) -> std::ranges::range_value_t<R> {
  return reduce(on, r, std::ranges::range_value_t<R>{}, std::plus<>{}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T, class Op>
T reduce(On&& on, I first, S last, T init, Op op, loop_options const& wanted = {}) {
  auto const all = detail::stretch_of(first, last);
  return detail::reduce_of(on, all.n, std::move(init), op, detail::element_at{detail::plain_iterator(all.first)},
                           wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T>
T reduce(On&& on, I first, S last, T init, loop_options const& wanted = {}) {
  return reduce(on, first, last, std::move(init), std::plus<>{}, wanted);
}

template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
auto reduce(On&& on, I first, S last, loop_options const& wanted = {}) -> std::iter_value_t<I> {
  return reduce(on, first, last, std::iter_value_t<I>{}, std::plus<>{}, wanted);
}

/// As reduce, of f(element).
template <class On, std::ranges::range R, class T, class Op, class F>
requires(!std::ranges::range<T> || std::is_invocable_v<Op&, T, T>) T
    transform_reduce(On&& on, R&& r, T init, Op op, F f, loop_options const& wanted = {}) {
  auto const all = detail::stretch_of(r);
  return detail::reduce_of(on, all.n, std::move(init), op,
                           detail::mapped_element{detail::plain_iterator(all.first), &f}, wanted);
}
template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T, class Op, class F>
requires(!std::input_or_output_iterator<T> || std::is_invocable_v<Op&, T, T>) T
    transform_reduce(On&& on, I first, S last, T init, Op op, F f, loop_options const& wanted = {}) {
  auto const all = detail::stretch_of(first, last);
  return detail::reduce_of(on, all.n, std::move(init), op,
                           detail::mapped_element{detail::plain_iterator(all.first), &f}, wanted);
}
/// As reduce, of f(element i of the first range, element i of the second), as far as the shorter one goes: by default
/// the scalar product.
template <class On, std::ranges::range R1, std::ranges::range R2, class T, class Op = std::plus<>,
          class F = std::multiplies<>>
requires(!std::is_invocable_v<T&, std::ranges::range_reference_t<R1>, std::ranges::range_reference_t<R1>>) T
    transform_reduce(On&& on, R1&& a, R2&& b, T init, Op op = {}, F f = {}, loop_options const& wanted = {}) {
  auto const x = detail::stretch_of(a);
  auto const y = detail::stretch_of(b);
  return detail::reduce_of(on, x.n < y.n ? x.n : y.n, std::move(init), op,
                           detail::mapped_pair{detail::plain_iterator(x.first), detail::plain_iterator(y.first), &f},
                           wanted);
}
template <class On, std::ranges::range R1, std::ranges::range R2, class T>
T transform_reduce(On&& on, R1&& a, R2&& b, T init, loop_options const& wanted) {
  return transform_reduce(on, a, b, std::move(init), std::plus<>{}, std::multiplies<>{}, wanted);
}
/// The second range is as long as the first.
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S, std::input_or_output_iterator I2,
          class T, class Op = std::plus<>, class F = std::multiplies<>>
T transform_reduce(On&& on, I1 first, S last, I2 second, T init, Op op = {}, F f = {},
                   loop_options const& wanted = {}) {
  auto const x = detail::stretch_of(first, last);
  return detail::reduce_of(on, x.n, std::move(init), op,
                           detail::mapped_pair{detail::plain_iterator(x.first), detail::plain_iterator(second), &f},
                           wanted);
}
template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S, std::input_or_output_iterator I2,
          class T>
T transform_reduce(On&& on, I1 first, S last, I2 second, T init, loop_options const& wanted) {
  return transform_reduce(on, first, last, second, std::move(init), std::plus<>{}, std::multiplies<>{}, wanted);
}

}  // namespace heist
