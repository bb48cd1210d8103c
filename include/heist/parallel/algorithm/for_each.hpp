// Parallel loops: over the elements of a range, over indices, over blocks of them, in two dimensions.
#pragma once

#include <concepts>
#include <cstddef>     // size_t
#include <functional>  // identity
#include <iterator>
#include <type_traits>
#include <utility>  // cmp_less

#include "heist/parallel/algorithm/blocks.hpp"
#include "heist/parallel/algorithm/call.hpp"
#include "heist/parallel/algorithm/parts.hpp"
#include "heist/parallel/algorithm/ranges.hpp"
#include "heist/parallel/algorithm/tiles.hpp"

// Contract of all of them
//
//   Form     name(on, range, ...) or name(on, first, last, ...); loop_options may follow at the end, also where arguments
//            that have defaults are left out.
//   Where    `on` is an executor, or inside a task its context. Called with the executor of the task that calls, it is
//            as with the context.
//   Body     is called as f(what), or f(context, what) if only that is possible; for several elements at a time, and
//            for each exactly once. It may fork, wait and submit. A calling thread outside of the executor works, too.
//            If the body takes no context that thread works at once and never waits for a busy worker; otherwise it
//            works where it can (executor::run_here). Iterations may wait for each other only if there are at most as many
//            as workers: a loop of more may run on the calling thread alone.
//   Returns  when no iteration runs any more: true, or false if options.stop was requested during the loop, before all
//            iterations had begun.
//   Throws   stopped_error if options.stop was requested before the call, also for an empty range: no iteration ran.
//            Also the exception of an iteration; of several, that of the first iterations. Iterations that have not
//            begun then do not begin.
//   Work     that of the iterations, and one look every few microseconds; span: the logarithm of their number, and some
//            microseconds of iterations, or the longest one. Every worker that is free has a part before the first
//            iteration ends; with at least 32 iterations for each worker, before the first microseconds or the second
//            iteration end. While all workers sleep, a loop that ends before a wake-up pays has no help. Allocated: one block,
//            where workers help.

namespace heist {

namespace detail {

template <class On, class I, class F, class Proj = std::identity>
bool for_each_of(On& on, subrange<I> over, F& f, Proj& proj, loop_options const& wanted) {
  using context_type = loop_context<On>;
  using element = std::invoke_result_t<Proj&, std::iter_reference_t<I>>;
  check_body<F, context_type, element>();
  // A body that does not take a bool takes the bit, to write it.
  if constexpr (std::is_same_v<Proj, std::identity> && !std::is_invocable_v<F&, std::iter_value_t<I>&> &&
                std::is_invocable_v<F&, element>)
    check_written<I>();
  auto const first = detail::plain_iterator(over.first);
  return detail::run_blocks(
      on, over.n, wanted,
      [&f, &proj, first](context_type const* c, std::size_t lo, std::size_t hi) {
        local_function<F> body = f;
        local_function<Proj> view = proj;
        detail::walk(first, lo, hi,
                     [&body, &view, c](auto const& at) { detail::call_body(body, c, std::invoke(view, *at)); });
      },
      body_needs_context<F, context_type, element>);
}

/// The same of a range that is cut by walking.
template <class On, class I, class F, class Proj = std::identity>
bool for_each_of(On& on, parts<I> const& over, F& f, Proj& proj, loop_options const& wanted) {
  using context_type = loop_context<On>;
  using element = std::invoke_result_t<Proj&, std::iter_reference_t<I>>;
  check_place<On>();
  check_body<F, context_type, element>();
  if (over.stopped()) return false;
  return detail::run_blocks(
      on, over.count(), over.options(wanted),
      [&f, &proj, &over](context_type const* c, std::size_t lo, std::size_t hi) {
        I at = over.begin(lo);
        for (std::size_t left = over.elements(lo, hi); left != 0; --left, ++at)
          detail::call_body(f, c, std::invoke(proj, *at));
      },
      body_needs_context<F, context_type, element>);
}

struct for_each_algorithm : forward_access {
  using given = arguments<1, required, std::identity>;
  template <class On, class Elements, class F, class Proj = std::identity>
  static bool run(On& on, Elements const& over, loop_options const& wanted, F f, Proj proj = {}) {
    return detail::for_each_of(on, over, f, proj, wanted);
  }
};

struct for_each_n_algorithm : needs_place {
  using needs_place::operator();

  template <class On, std::input_or_output_iterator I, class F>
  bool operator()(On&& on, I first, std::iter_difference_t<I> n, F f, loop_options const& wanted) const {
    std::identity same;
    return detail::for_each_of(on, detail::cut_n(first, n, wanted), f, same, wanted);
  }
  template <class On, std::input_or_output_iterator I, class F, class Proj = std::identity>
  bool operator()(On&& on, I first, std::iter_difference_t<I> n, F f, Proj proj = {},
                  loop_options const& wanted = {}) const {
    return detail::for_each_of(on, detail::cut_n(first, n, wanted), f, proj, wanted);
  }
};

}  // namespace detail

/// for_each(on, range, f, proj = {}): calls `f` with each element of a range, or with proj(element). Iterators with random
/// access are cut anywhere. The calling thread walks once through other forward ranges, such as lists, before the first
/// iteration: a few thousand iterators are allocated.
inline constexpr detail::on_range<detail::for_each_algorithm> for_each{};
/// for_each_n(on, first, n, f, proj = {}): the same with the `n` elements from `first` on.
inline constexpr detail::for_each_n_algorithm for_each_n{};

/// Calls `f` with each number from `first` up to, and without, `last`; nothing if `last` is not above `first`. They
/// have the type that both have in common: so no number up to a std::size_t overflows.
template <class On, std::integral First, std::integral Last, class F>
bool for_each_index(On&& on, First first, Last last, F f, loop_options const& wanted = {}) {
  using index = std::common_type_t<First, Last>;
  using context_type = detail::loop_context<std::remove_cvref_t<On>>;
  detail::check_body<F, context_type, index>();
  std::size_t const n = detail::count_of(first, last);
  auto const from = static_cast<index>(first);
  return detail::run_blocks(
      on, n, wanted,
      [&f, from](context_type const* c, std::size_t lo, std::size_t hi) {
        detail::local_function<F> body = f;
        HEIST_UNROLL
        for (; lo != hi; ++lo) detail::call_body(body, c, detail::index_at(from, lo));
      },
      detail::body_needs_context<F, context_type, index>);
}

/// Calls `f(lo, hi)` for blocks of numbers that make up those from `first` up to `last`: the caller writes the loop
/// over a block, so that compilers see all of it.
template <class On, std::integral First, std::integral Last, class F>
bool for_each_block(On&& on, First first, Last last, F f, loop_options const& wanted = {}) {
  using index = std::common_type_t<First, Last>;
  using context_type = detail::loop_context<std::remove_cvref_t<On>>;
  detail::check_body<F, context_type, index, index>();
  std::size_t const n = detail::count_of(first, last);
  auto const from = static_cast<index>(first);
  return detail::run_blocks(
      on, n, wanted,
      [&f, from](context_type const* c, std::size_t lo, std::size_t hi) {
        detail::call_body(f, c, detail::index_at(from, lo), detail::index_at(from, hi));
      },
      detail::body_needs_context<F, context_type, index, index>);
}

/// Calls `f(rows, columns)`, with an index_range each, for blocks that make up all pairs of `rows` and `columns`: the
/// loops over a block are the caller's. A block has at most 64 columns and, if there are more columns, at most 16 rows.
/// It is smaller where iterations are dear. options.grain counts pairs.
template <class On, class F>
bool for_each_block_2d(On&& on, index_range rows, index_range columns, F f, loop_options const& wanted = {}) {
  using context_type = detail::loop_context<std::remove_cvref_t<On>>;
  detail::check_body<F, context_type, index_range, index_range>();
  detail::tiles const order{rows, columns};
  return detail::run_blocks(
      on, order.size(), wanted,
      [&f, &order](context_type const* c, std::size_t lo, std::size_t hi) {
        order.for_each_block(lo, hi, [&f, c](std::size_t i, std::size_t i_end, std::size_t j, std::size_t j_end) {
          detail::call_body(f, c, index_range{i, i_end}, index_range{j, j_end});
        });
      },
      detail::body_needs_context<F, context_type, index_range, index_range>);
}

/// Calls `f(i, j)` for each i of `rows` and j of `columns`, in tiles: iterations that run one after the other on a
/// worker are near each other in both directions.
template <class On, class F>
bool for_each_index_2d(On&& on, index_range rows, index_range columns, F f, loop_options const& wanted = {}) {
  using context_type = detail::loop_context<std::remove_cvref_t<On>>;
  detail::check_body<F, context_type, std::size_t, std::size_t>();
  detail::tiles const order{rows, columns};
  return detail::run_blocks(
      on, order.size(), wanted,
      [&f, &order](context_type const* c, std::size_t lo, std::size_t hi) {
        detail::local_function<F> body = f;
        order.for_each_row(lo, hi, [&body, c](std::size_t i, std::size_t j, std::size_t end) {
          HEIST_UNROLL
          for (; j != end; ++j) detail::call_body(body, c, i, j);
        });
      },
      detail::body_needs_context<F, context_type, std::size_t, std::size_t>);
}

}  // namespace heist
