// parallel_for.
#pragma once

#include <functional>  // invoke
#include <stdexcept>   // invalid_argument

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/partitioner.h"

namespace tbb {

namespace detail {

template <class Range, class Body, class Partitioner>
void loop(Range const& range, Body const& body, Partitioner& how, task_group_context& group) {
  if (range.empty()) return;
  run_group(group, [&] {
    within(how, [&] {
      Range all(range);
      divide(group, all, rule_for(how), [&](Range& part) { std::invoke(body, part); });
    });
  });
}

template <class Index, class F, class Partitioner>
void index_loop(Index first, Index last, Index step, F const& f, Partitioner& how, task_group_context& group) {
  if (step <= static_cast<Index>(0)) throw std::invalid_argument{"tbb::parallel_for: the step must be positive."};
  if (!(first < last)) return;
  Index const count = static_cast<Index>(static_cast<Index>(last - first - 1) / step + Index(1));
  auto const body = [&](blocked_range<Index> const& r) {
    Index at = static_cast<Index>(first + r.begin() * step);
    for (Index i = r.begin(); i < r.end(); ++i) {
      std::invoke(f, at);
      at = static_cast<Index>(at + step);
    }
  };
  loop(blocked_range<Index>(Index(0), count), body, how, group);
}

template <class P>
concept partitioner =
    std::is_same_v<std::remove_cv_t<P>, simple_partitioner> || std::is_same_v<std::remove_cv_t<P>, auto_partitioner> ||
    std::is_same_v<std::remove_cv_t<P>, static_partitioner> || std::is_same_v<P, affinity_partitioner>;

}  // namespace detail

/// Calls body(part) for the parts into which the partitioner divides `range`. The first exception ends it and is rethrown.
template <class Range, class Body>
void parallel_for(Range const& range, Body const& body) {
  task_group_context group;
  auto_partitioner const how;
  detail::loop(range, body, how, group);
}
template <class Range, class Body>
void parallel_for(Range const& range, Body const& body, task_group_context& group) {
  auto_partitioner const how;
  detail::loop(range, body, how, group);
}
template <class Range, class Body, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_for(Range const& range, Body const& body,
                                                                            P&& how) {
  task_group_context group;
  detail::loop(range, body, how, group);
}
template <class Range, class Body, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_for(Range const& range, Body const& body,
                                                                            P&& how, task_group_context& group) {
  detail::loop(range, body, how, group);
}

/// Calls f(i) for first, first + step, ... below last.
template <class Index, class F>
void parallel_for(Index first, Index last, Index step, F const& f) {
  task_group_context group;
  auto_partitioner const how;
  detail::index_loop(first, last, step, f, how, group);
}
template <class Index, class F>
void parallel_for(Index first, Index last, Index step, F const& f, task_group_context& group) {
  auto_partitioner const how;
  detail::index_loop(first, last, step, f, how, group);
}
template <class Index, class F, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_for(Index first, Index last, Index step,
                                                                            F const& f, P&& how) {
  task_group_context group;
  detail::index_loop(first, last, step, f, how, group);
}
template <class Index, class F, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_for(Index first, Index last, Index step,
                                                                            F const& f, P&& how,
                                                                            task_group_context& group) {
  detail::index_loop(first, last, step, f, how, group);
}

/// Calls f(i) for each i in [first, last).
template <class Index, class F>
void parallel_for(Index first, Index last, F const& f) {
  task_group_context group;
  auto_partitioner const how;
  detail::index_loop(first, last, static_cast<Index>(1), f, how, group);
}
template <class Index, class F>
void parallel_for(Index first, Index last, F const& f, task_group_context& group) {
  auto_partitioner const how;
  detail::index_loop(first, last, static_cast<Index>(1), f, how, group);
}
template <class Index, class F, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_for(Index first, Index last, F const& f,
                                                                            P&& how) {
  task_group_context group;
  detail::index_loop(first, last, static_cast<Index>(1), f, how, group);
}
template <class Index, class F, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_for(Index first, Index last, F const& f,
                                                                            P&& how, task_group_context& group) {
  detail::index_loop(first, last, static_cast<Index>(1), f, how, group);
}

}  // namespace tbb
