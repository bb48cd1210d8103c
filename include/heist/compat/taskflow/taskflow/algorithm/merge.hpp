// merge: by heist::merge, in the context of the task.
#pragma once

#include <functional>  // less

#include "heist/algorithm.hpp"
#include "heist/compat/taskflow/taskflow/algorithm/parts.hpp"

namespace tf {

template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, InputIteratorLike E2, class C, class O>
auto make_merge_task(B1 first1, E1 last1, B2 first2, E2 last2, C less, O out) {
  return detail::later([less](Runtime& runtime, auto b1, auto e1, auto b2, auto e2,
                              auto d) { heist::merge(runtime.context(), b1, e1, b2, e2, d, less); },
                       first1, last1, first2, last2, out);
}

template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, InputIteratorLike E2, class O>
Task FlowBuilder::merge(B1 first1, E1 last1, B2 first2, E2 last2, O out) {
  return emplace(make_merge_task(first1, last1, first2, last2, std::less<>{}, out));
}
template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, InputIteratorLike E2, class O, class C>
Task FlowBuilder::merge(B1 first1, E1 last1, B2 first2, E2 last2, O out, C less) {
  return emplace(make_merge_task(first1, last1, first2, last2, less, out));
}

}  // namespace tf
