// transform: a function of each element, or of each pair of two ranges, written to a third.
#pragma once

#include "heist/compat/taskflow/taskflow/algorithm/parts.hpp"

namespace tf {

template <InputIteratorLike B, InputIteratorLike E, class O, class C, PartitionerLike P = DefaultPartitioner>
requires detail::UnaryTransform<C, B, O>
auto make_transform_task(B first, E last, O out, C callable, P part = P()) {
  return detail::later(
      [callable, part](Runtime& runtime, auto b, auto e, auto d) {
        detail::run_parts(
            runtime, detail::length(b, e), part,
            [callable, in = detail::cursor(b), to = detail::cursor(d)](std::size_t from, std::size_t until) mutable {
              auto& i = in.at(from);
              auto& o = to.at(from);
              for (std::size_t n = from; n != until; ++n, void(++i), void(++o)) *o = callable(*i);
              in.passed(until);
              to.passed(until);
            });
      },
      first, last, out);
}
template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, class O, class C,
          PartitionerLike P = DefaultPartitioner>
requires detail::BinaryTransform<C, B1, B2, O>
auto make_transform_task(B1 first1, E1 last1, B2 first2, O out, C callable, P part = P()) {
  return detail::later(
      [callable, part](Runtime& runtime, auto b1, auto e1, auto b2, auto d) {
        detail::run_parts(runtime, detail::length(b1, e1), part,
                          [callable, in1 = detail::cursor(b1), in2 = detail::cursor(b2), to = detail::cursor(d)](
                              std::size_t from, std::size_t until) mutable {
                            auto& i = in1.at(from);
                            auto& j = in2.at(from);
                            auto& o = to.at(from);
                            for (std::size_t n = from; n != until; ++n, void(++i), void(++j), void(++o))
                              *o = callable(*i, *j);
                            in1.passed(until);
                            in2.passed(until);
                            to.passed(until);
                          });
      },
      first1, last1, first2, out);
}

template <InputIteratorLike B, InputIteratorLike E, class O, class C, PartitionerLike P>
requires detail::UnaryTransform<C, B, O> Task FlowBuilder::transform(B first, E last, O out, C callable, P part) {
  return emplace(make_transform_task(first, last, out, callable, part));
}
template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, class O, class C, PartitionerLike P>
requires detail::BinaryTransform<C, B1, B2, O> Task FlowBuilder::transform(B1 first1, E1 last1, B2 first2, O out,
                                                                           C callable, P part) {
  return emplace(make_transform_task(first1, last1, first2, out, callable, part));
}

}  // namespace tf
