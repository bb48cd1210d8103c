// sort: by heist::sort, in the context of the task.
#pragma once

#include <functional>  // less

#include "heist/algorithm.hpp"
#include "heist/compat/taskflow/taskflow/algorithm/parts.hpp"

namespace tf {

template <InputIteratorLike B, InputIteratorLike E, class C = std::less<>>
auto make_sort_task(B first, E last, C less = C()) {
  return detail::later([less](Runtime& runtime, auto b, auto e) { heist::sort(runtime.context(), b, e, less); }, first,
                       last);
}

template <InputIteratorLike B, InputIteratorLike E>
Task FlowBuilder::sort(B first, E last) {
  return emplace(make_sort_task(first, last));
}
template <InputIteratorLike B, InputIteratorLike E, class C>
Task FlowBuilder::sort(B first, E last, C less) {
  return emplace(make_sort_task(first, last, less));
}

}  // namespace tf
