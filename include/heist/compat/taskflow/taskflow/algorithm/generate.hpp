// generate: the results of calls, written to a range.
#pragma once

#include "heist/compat/taskflow/taskflow/algorithm/for_each.hpp"

namespace tf {

namespace detail {
/// Writes a value of `gen()` to each element that has a number below n.
template <class I, class G, class P>
void generate_parts(Runtime& runtime, I first, std::size_t n, G gen, P part) {
  run_parts(runtime, n, part, [gen, out = cursor(first)](std::size_t from, std::size_t to) mutable {
    auto& o = out.at(from);
    for (std::size_t i = from; i != to; ++i, void(++o)) *o = gen();
    out.passed(to);
  });
}
}  // namespace detail

template <InputIteratorLike B, InputIteratorLike E, class G, PartitionerLike P = DefaultPartitioner>
auto make_generate_task(B first, E last, G gen, P part = P()) {
  return detail::later([gen, part](Runtime& runtime, auto b,
                                   auto e) { detail::generate_parts(runtime, b, detail::length(b, e), gen, part); },
                       first, last);
}
template <InputIteratorLike B, std::integral N, class G, PartitionerLike P = DefaultPartitioner>
auto make_generate_n_task(B first, N count, G gen, P part = P()) {
  return detail::later(
      [gen, part](Runtime& runtime, auto b, N n) {
        if (n > 0) detail::generate_parts(runtime, b, static_cast<std::size_t>(n), gen, part);
      },
      first, count);
}

template <InputIteratorLike B, InputIteratorLike E, class G, PartitionerLike P>
Task FlowBuilder::generate(B first, E last, G gen, P part) {
  return emplace(make_generate_task(first, last, gen, part));
}
template <InputIteratorLike B, std::integral N, class G, PartitionerLike P>
Task FlowBuilder::generate_n(B first, N count, G gen, P part) {
  return emplace(make_generate_n_task(first, count, gen, part));
}

}  // namespace tf
