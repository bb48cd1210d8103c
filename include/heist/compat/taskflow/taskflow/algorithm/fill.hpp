// fill: one value in each element.
#pragma once

#include "heist/compat/taskflow/taskflow/algorithm/generate.hpp"

namespace tf {

template <InputIteratorLike B, InputIteratorLike E, class V, PartitionerLike P = DefaultPartitioner>
auto make_fill_task(B first, E last, V value, P part = P()) {
  return make_generate_task(
      first, last, [value]() -> V const& { return value; }, part);
}
template <InputIteratorLike B, std::integral N, class V, PartitionerLike P = DefaultPartitioner>
auto make_fill_n_task(B first, N count, V value, P part = P()) {
  return make_generate_n_task(
      first, count, [value]() -> V const& { return value; }, part);
}

template <InputIteratorLike B, InputIteratorLike E, class V, PartitionerLike P>
Task FlowBuilder::fill(B first, E last, V value, P part) {
  return emplace(make_fill_task(first, last, value, part));
}
template <InputIteratorLike B, std::integral N, class V, PartitionerLike P>
Task FlowBuilder::fill_n(B first, N count, V value, P part) {
  return emplace(make_fill_n_task(first, count, value, part));
}

}  // namespace tf
