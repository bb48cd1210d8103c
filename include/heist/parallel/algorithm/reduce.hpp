// reduce and transform_reduce: the same result, to the bit, with any number of workers.
#pragma once

#include <concepts>
#include <cstddef>     // size_t
#include <functional>  // plus, multiplies, bit_and ...
#include <iterator>
#include <memory>  // addressof
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/leaves.hpp"
#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/parts.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist {

namespace detail {

/// Are sums of such elements, kept as T and made by an operation on U, the same modulo a power of 2 in any order? Of a
/// bool only bools are: it forgets more of a number than its upper bits.
template <class T, class Element, class U>
inline constexpr bool are_whole = std::is_integral_v<T>&& std::is_integral_v<Element> &&
                                  (std::is_void_v<U> || std::is_integral_v<U>)&&(!std::is_same_v<T, bool> ||
                                                                                 std::is_same_v<Element, bool>);
/// Has the result the same bits wherever the range is cut?
template <class T, class Element, class Op>
inline constexpr bool is_exact = false;
template <class T, class Element, class U>
inline constexpr bool is_exact<T, Element, std::plus<U>> = are_whole<T, Element, U>;
template <class T, class Element, class U>
inline constexpr bool is_exact<T, Element, std::multiplies<U>> = are_whole<T, Element, U>;
template <class T, class Element, class U>
inline constexpr bool is_exact<T, Element, std::bit_and<U>> = are_whole<T, Element, U>;
template <class T, class Element, class U>
inline constexpr bool is_exact<T, Element, std::bit_or<U>> = are_whole<T, Element, U>;
template <class T, class Element, class U>
inline constexpr bool is_exact<T, Element, std::bit_xor<U>> = are_whole<T, Element, U>;

template <class Op>
inline constexpr bool accepts_any_order = false;
template <class Op>
inline constexpr bool accepts_any_order<any_order_op<Op>> = true;

/// Are both the elements and their operation to be had in next to no time? Then short leaves are not worth their
/// number.
template <class T, class Op, class At>
inline constexpr std::size_t min_leaf = 1;
template <class T, class Op>
inline constexpr std::size_t min_leaf<T, Op, element_at<T*>> = is_plain_arithmetic<T, Op> ? 1024 : 1;
template <class T, class Op>
inline constexpr std::size_t min_leaf<T, Op, element_at<T const*>> = is_plain_arithmetic<T, Op> ? 1024 : 1;

/// Can `Op` make a T of the values and elements that it is given?
template <class T, class Op, class At, class Element = element_of<At>>
inline constexpr bool reduces = std::is_invocable_r_v<T, Op&, T, T>&& std::is_invocable_r_v<T, Op&, T, Element> &&
                                (std::is_convertible_v<Element, T> || std::is_invocable_r_v<T, Op&, Element, Element>);

/// init, then at(0), ... at(n - 1).
template <class On, class T, class Op, class At>
T reduce_of(On& on, std::size_t n, T init, Op& op, At at, loop_options const& wanted) {
  static_assert(reduces<T, Op, At>,
                "heist: the operation of a reduction must be callable with two values of the type of its first one "
                "(the `init`), with such a value and an element, and with two elements unless they convert to that "
                "type, and return it; fix its parameters, or the type of the first value; or by std::move of a "
                "container whose elements can only be moved.");
  if constexpr (reduces<T, Op, At>) {
    check_options(wanted);
    // Sums of `step` elements and more.
    constexpr std::size_t step = min_in_sum<T, At>;
    std::size_t const steps = n / step;
    if (steps == 0) {
      if (n != 0) detail::add_to(init, op, at(0));
      return init;
    }
    auto const end = [n, steps](std::size_t i) { return i == steps ? n : i * step; };
    using element = std::remove_cvref_t<element_of<At>>;
    if constexpr (is_exact<T, element, Op> || accepts_any_order<Op>) {
      auto all = detail::fold_blocks<std::optional<T>>(
          on, steps, wanted,
          [&op, at, end](std::optional<T>& sum, std::size_t lo, std::size_t hi) {
            local_function<At const> element_at = at;
            T block = detail::fold_leaf<T, true>(op, element_at, lo * step, end(hi));
            if (sum) {
              detail::add_to(*sum, op, std::move(block));
            } else {
              sum.emplace(std::move(block));
            }
          },
          [&op](std::optional<T>& lower, std::optional<T>& upper) {
            if (lower && upper) {
              detail::add_to(*lower, op, std::move(*upper));
            } else if (upper) {
              lower.emplace(std::move(*upper));
            }
          });
      detail::add_to(init, op, std::move(*all));
    } else {
      leaves const cut{steps, min_leaf<T, Op, At>};
      auto const fold = [&op, &cut, end](At const& all, std::size_t leaf) {
        local_function<At const> element_at = all;
        return detail::fold_leaf<T, false>(op, element_at, cut.begin(leaf) * step, end(cut.end(leaf)));
      };
      if (cut.count == 1) {
        detail::add_to(init, op, fold(at, 0));
        return init;
      }
      leaf_values<T> sums{cut.count};
      loop_options const in_leaves{leaves_of_grain(wanted, cut), wanted.stop, wanted.region};
      detail::run_all_blocks(on, cut.count, in_leaves, [&](auto const*, std::size_t lo, std::size_t hi) {
        for (; lo != hi; ++lo) sums.set(lo, fold(at, lo));
      });
      detail::join_leaves(on, sums, cut.count, op, wanted.stop);
      detail::add_to(init, op, std::move(sums[0]));
    }
  }
  return init;
}

/// The same of a range that is cut by walking; f(element) in place of an element.
template <class On, class T, class Op, class I, class F>
T reduce_of(On& on, parts<I> const& over, T init, Op& op, F& f, loop_options const& wanted) {
  using element = std::invoke_result_t<F&, std::iter_reference_t<I>>;
  constexpr bool can = std::is_invocable_r_v<T, Op&, T, T> && std::is_invocable_r_v<T, Op&, T, element> &&
                       std::is_convertible_v<element, T>;
  static_assert(
      can,
      "heist: the operation of a reduction of a list, or of another range without random access, must be "
      "callable with two values of the type of its first one (the `init`), to which the elements convert, and "
      "return it; fix its parameters, or the type of the first value.");
  if constexpr (can) {
    check_place<On>();
    if (over.stopped()) throw_stopped();
    if (over.count() == 0) return init;
    leaf_values<T> sums{over.count()};
    detail::run_all_blocks(on, over.count(), over.options(wanted), [&](auto const*, std::size_t lo, std::size_t hi) {
      for (; lo != hi; ++lo) {
        I at = over.begin(lo);
        T sum = detail::sum_of<T>(std::invoke(f, *at));
        for (std::size_t left = over.elements(lo, lo + 1) - 1; left != 0; --left)
          detail::add_to(sum, op, std::invoke(f, *++at));
        sums.set(lo, std::move(sum));
      }
    });
    detail::join_leaves(on, sums, over.count(), op, wanted.stop);
    detail::add_to(init, op, std::move(sums[0]));
  }
  return init;
}
/// The same of either.
template <class On, class T, class Op, class I>
T reduce_all(On& on, subrange<I> const& all, T init, Op& op, loop_options const& wanted) {
  return detail::reduce_of(on, all.n, std::move(init), op, element_at{detail::plain_iterator(all.first)}, wanted);
}
template <class On, class T, class Op, class I>
T reduce_all(On& on, parts<I> const& all, T init, Op& op, loop_options const& wanted) {
  std::identity same;
  return detail::reduce_of(on, all, std::move(init), op, same, wanted);
}
template <class On, class T, class Op, class I, class F>
T transform_reduce_all(On& on, subrange<I> const& all, T init, Op& op, F& f, loop_options const& wanted) {
  return detail::reduce_of(on, all.n, std::move(init), op,
                           mapped_element{detail::plain_iterator(all.first), std::addressof(f)}, wanted);
}
template <class On, class T, class Op, class I, class F>
T transform_reduce_all(On& on, parts<I> const& all, T init, Op& op, F& f, loop_options const& wanted) {
  return detail::reduce_of(on, all, std::move(init), op, f, wanted);
}

/// Has a range been given away whose elements can only be moved? It owns them, and is no view of another one's.
template <class R, class T, class Op>
inline constexpr bool moves_elements = false;
template <class R, class T, class Op>
requires(!std::is_lvalue_reference_v<R> && !std::ranges::borrowed_range<R> && !std::ranges::view<R> &&
         has_random_access<std::ranges::iterator_t<R>> &&
         std::ranges::sized_range<R>) inline constexpr bool moves_elements<R, T, Op> =
    !reduces<T, Op, element_at<std::ranges::iterator_t<R>>> &&
    reduces<T, Op, element_at<std::move_iterator<std::ranges::iterator_t<R>>>>;

struct reduce_algorithm : needs_place {
  using needs_place::operator();

  template <class On, std::ranges::range R, class T, class Op = std::plus<>>
  T operator()(On&& on, R&& r, T init, Op op, loop_options const& wanted = {}) const {
    if constexpr (moves_elements<R, T, Op>) {
      auto const all = detail::subrange_of(r);
      return detail::reduce_of(on, all.n, std::move(init), op,
                               element_at{std::make_move_iterator(detail::plain_iterator(all.first))}, wanted);
    } else {
      return detail::reduce_all(on, detail::cut(r, wanted), std::move(init), op, wanted);
    }
  }
  template <class On, std::ranges::range R, class T>
  T operator()(On&& on, R&& r, T init, loop_options const& wanted = {}) const {
    return (*this)(on, std::forward<R>(r), std::move(init), std::plus<>{}, wanted);
  }
  template <class On, std::ranges::range R>
  auto operator()(On&& on, R&& r) const -> std::ranges::range_value_t<R> {
    return (*this)(on, r, std::ranges::range_value_t<R>(), std::plus<>{});
  }
  template <class On, std::ranges::range R>
  auto operator()(On&& on, R&& r, loop_options const& wanted) const -> std::ranges::range_value_t<R> {
    return (*this)(on, r, std::ranges::range_value_t<R>(), std::plus<>{}, wanted);
  }

  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T, class Op>
  T operator()(On&& on, I first, S last, T init, Op op, loop_options const& wanted = {}) const {
    return detail::reduce_all(on, detail::cut(first, last, wanted), std::move(init), op, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T>
  T operator()(On&& on, I first, S last, T init, loop_options const& wanted = {}) const {
    return (*this)(on, first, last, std::move(init), std::plus<>{}, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S>
  auto operator()(On&& on, I first, S last, loop_options const& wanted = {}) const -> std::iter_value_t<I> {
    return (*this)(on, first, last, std::iter_value_t<I>(), std::plus<>{}, wanted);
  }
};

struct transform_reduce_algorithm : needs_place {
  using needs_place::operator();

  template <class On, std::ranges::range R, class T, class Op, class F>
  requires(!std::ranges::range<T> || std::is_invocable_v<Op&, T, T>) T operator()(
      On&& on, R&& r, T init, Op op, F f, loop_options const& wanted = {}) const {
    return detail::transform_reduce_all(on, detail::cut(r, wanted), std::move(init), op, f, wanted);
  }
  template <class On, std::input_or_output_iterator I, std::sentinel_for<I> S, class T, class Op, class F>
  requires(!std::input_or_output_iterator<T> || std::is_invocable_v<Op&, T, T>) T operator()(
      On&& on, I first, S last, T init, Op op, F f, loop_options const& wanted = {}) const {
    return detail::transform_reduce_all(on, detail::cut(first, last, wanted), std::move(init), op, f, wanted);
  }

  template <class On, std::ranges::range R1, std::ranges::range R2, class T, class Op = std::plus<>,
            class F = std::multiplies<>>
  requires(!std::is_invocable_v<T&, std::ranges::range_reference_t<R1>, std::ranges::range_reference_t<R1>>) T
  operator()(On&& on, R1&& a, R2&& b, T init, Op op = {}, F f = {}, loop_options const& wanted = {}) const {
    auto const x = detail::subrange_of(a);
    auto const y = detail::subrange_of(b);
    return detail::reduce_of(
        on, x.n < y.n ? x.n : y.n, std::move(init), op,
        mapped_pair{detail::plain_iterator(x.first), detail::plain_iterator(y.first), std::addressof(f)}, wanted);
  }
  template <class On, std::ranges::range R1, std::ranges::range R2, class T>
  T operator()(On&& on, R1&& a, R2&& b, T init, loop_options const& wanted) const {
    return (*this)(on, a, b, std::move(init), std::plus<>{}, std::multiplies<>{}, wanted);
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S, std::input_or_output_iterator I2,
            class T, class Op = std::plus<>, class F = std::multiplies<>>
  T operator()(On&& on, I1 first, S last, I2 second, T init, Op op = {}, F f = {},
               loop_options const& wanted = {}) const {
    auto const x = detail::subrange_of(first, last);
    return detail::reduce_of(
        on, x.n, std::move(init), op,
        mapped_pair{detail::plain_iterator(x.first), detail::plain_iterator(second), std::addressof(f)}, wanted);
  }
  template <class On, std::input_or_output_iterator I1, std::sentinel_for<I1> S, std::input_or_output_iterator I2,
            class T>
  T operator()(On&& on, I1 first, S last, I2 second, T init, loop_options const& wanted) const {
    return (*this)(on, first, last, second, std::move(init), std::plus<>{}, std::multiplies<>{}, wanted);
  }
};

}  // namespace detail

// Contract of all of them
//
//   Result   op(init, everything), with the elements in their order: op is associative, and need not commute. Sums and
//            products of numbers (std::plus, std::multiplies) exchange operands, and add eight at a time; no other op
//            does. The cuts of the range depend on its length and on types alone. So sums of floating-point numbers have
//            the same bits with any number of workers, policy and order. any_order(op) gives that up: elements may
//            then change places. Another version of heist, or std::reduce, may cut in another way.
//   Where    as for_each; functions are called for several elements at a time.
//   Throws   what a function throws, stopped_error if options.stop was asked to stop before the end, bad_alloc.
//   Work     that of n calls of op; span: the logarithm of n, and some microseconds of elements. At most 512 values of
//            type T are allocated, or n / 4096 if that is more; none of numbers without a fraction, or in any order.

/// reduce(on, range, init = {}, op = std::plus{}): the sum of a range and `init`, or what `op` makes of them. Elements that
/// can only be moved are moved out of a container that is given away: reduce(ex, std::move(v), std::move(init), op). A
/// range without random access, such as a list, is walked through once before, as in for_each, and cut by its length.
inline constexpr detail::reduce_algorithm reduce{};

///     transform_reduce(on, range, init, op, f)
///     transform_reduce(on, range1, range2, init, op = std::plus{}, f = std::multiplies{})
///     transform_reduce(on, first1, last1, first2, init, op = std::plus{}, f = std::multiplies{})
///
/// As reduce, of f(element). Of two ranges: of f(element i of the first, element i of the second), as far as the shorter
/// one goes. By default that is the scalar product. In the last form the second range is as long as the first.
inline constexpr detail::transform_reduce_algorithm transform_reduce{};

}  // namespace heist
