// Loops over elements and over indices.
#pragma once

#include "heist/compat/taskflow/taskflow/algorithm/parts.hpp"

namespace tf {

/// Callables for emplace() and asyncs. A bound may be a std::ref to a variable that is set before the task runs.
template <InputIteratorLike B, InputIteratorLike E, class C, PartitionerLike P = DefaultPartitioner>
auto make_for_each_task(B first, E last, C callable, P part = P()) {
  return detail::later(
      [callable, part](Runtime& runtime, auto b, auto e) {
        detail::run_parts(runtime, detail::length(b, e), part,
                          [callable, in = detail::cursor(b)](std::size_t from, std::size_t to) mutable {
                            auto& i = in.at(from);
                            for (std::size_t n = from; n != to; ++n, void(++i)) callable(*i);
                            in.passed(to);
                          });
      },
      first, last);
}

template <class B, class E, class S, class C, PartitionerLike P = DefaultPartitioner>
auto make_for_each_index_task(B first, E last, S step, C callable, P part = P()) {
  return detail::later(
      [callable, part](Runtime& runtime, auto b, auto e, auto by) {
        using index = decltype(b);
        if (is_index_range_invalid<index>(b, static_cast<index>(e), static_cast<index>(by))) return;
        detail::run_parts(runtime, tf::distance<index>(b, static_cast<index>(e), static_cast<index>(by)), part,
                          [callable, b, by](std::size_t from, std::size_t to) mutable {
                            auto i = static_cast<index>(static_cast<index>(from) * by + b);
                            for (std::size_t n = from; n != to; ++n, i = static_cast<index>(i + by)) callable(i);
                          });
      },
      first, last, step);
}

namespace detail {

/// Calls run(runtime, boxes...) where a partitioner's loop wants a range.
template <class R>
bool is_unusable(R const& range) {
  if constexpr (R::rank == 1) {
    return is_index_range_invalid(range.begin(), range.end(), range.step_size());
  } else {
    return false;
  }
}
/// A body over flat numbers that calls `box(range)`.
template <class R, class F>
auto over_boxes(R const& range, F box) {
  return [range, box = std::move(box)](std::size_t from, std::size_t to) mutable {
    IndexRangesPartitioner(range).for_each_box(from, to, box);
  };
}

}  // namespace detail

template <IndexRangesLike R, class C, PartitionerLike P = DefaultPartitioner>
auto make_for_each_by_index_task(R range, C callable, P part = P()) {
  return detail::later(
      [callable, part](Runtime& runtime, auto r) {
        if (!detail::is_unusable(r)) detail::run_parts(runtime, r.size(), part, detail::over_boxes(r, callable));
      },
      range);
}

template <InputIteratorLike B, InputIteratorLike E, class C, PartitionerLike P>
Task FlowBuilder::for_each(B first, E last, C callable, P part) {
  return emplace(make_for_each_task(first, last, callable, part));
}
template <class B, class E, class S, class C, PartitionerLike P>
Task FlowBuilder::for_each_index(B first, E last, S step, C callable, P part) {
  return emplace(make_for_each_index_task(first, last, step, callable, part));
}
template <IndexRangesLike R, class C, PartitionerLike P>
Task FlowBuilder::for_each_by_index(R range, C callable, P part) {
  return emplace(make_for_each_by_index_task(range, callable, part));
}

}  // namespace tf
