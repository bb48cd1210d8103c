// Scans: by heist's, in the context of the task.
#pragma once

#include "heist/algorithm.hpp"
#include "heist/compat/taskflow/taskflow/algorithm/parts.hpp"

namespace tf {

template <InputIteratorLike B, InputIteratorLike E, class D, class O>
auto make_inclusive_scan_task(B first, E last, D out, O op) {
  return detail::later(
      [op](Runtime& runtime, auto b, auto e, auto d) { heist::inclusive_scan(runtime.context(), b, e, d, op); }, first,
      last, out);
}
template <InputIteratorLike B, InputIteratorLike E, class D, class O, class T>
auto make_inclusive_scan_task(B first, E last, D out, O op, T init) {
  return detail::later([op, init](Runtime& runtime, auto b, auto e,
                                  auto d) { heist::inclusive_scan(runtime.context(), b, e, d, op, init); },
                       first, last, out);
}
template <InputIteratorLike B, InputIteratorLike E, class D, class T, class O>
auto make_exclusive_scan_task(B first, E last, D out, T init, O op) {
  return detail::later([op, init](Runtime& runtime, auto b, auto e,
                                  auto d) { heist::exclusive_scan(runtime.context(), b, e, d, init, op); },
                       first, last, out);
}
template <InputIteratorLike B, InputIteratorLike E, class D, class O, class U>
auto make_transform_inclusive_scan_task(B first, E last, D out, O op, U unary) {
  return detail::later([op, unary](Runtime& runtime, auto b, auto e,
                                   auto d) { heist::transform_inclusive_scan(runtime.context(), b, e, d, op, unary); },
                       first, last, out);
}
template <InputIteratorLike B, InputIteratorLike E, class D, class O, class U, class T>
auto make_transform_inclusive_scan_task(B first, E last, D out, O op, U unary, T init) {
  return detail::later(
      [op, unary, init](Runtime& runtime, auto b, auto e, auto d) {
        heist::transform_inclusive_scan(runtime.context(), b, e, d, op, unary, init);
      },
      first, last, out);
}
template <InputIteratorLike B, InputIteratorLike E, class D, class T, class O, class U>
auto make_transform_exclusive_scan_task(B first, E last, D out, T init, O op, U unary) {
  return detail::later(
      [op, unary, init](Runtime& runtime, auto b, auto e, auto d) {
        heist::transform_exclusive_scan(runtime.context(), b, e, d, init, op, unary);
      },
      first, last, out);
}

template <InputIteratorLike B, InputIteratorLike E, class D, class O>
Task FlowBuilder::inclusive_scan(B first, E last, D out, O op) {
  return emplace(make_inclusive_scan_task(first, last, out, op));
}
template <InputIteratorLike B, InputIteratorLike E, class D, class O, class T>
Task FlowBuilder::inclusive_scan(B first, E last, D out, O op, T init) {
  return emplace(make_inclusive_scan_task(first, last, out, op, init));
}
template <InputIteratorLike B, InputIteratorLike E, class D, class T, class O>
Task FlowBuilder::exclusive_scan(B first, E last, D out, T init, O op) {
  return emplace(make_exclusive_scan_task(first, last, out, init, op));
}
template <InputIteratorLike B, InputIteratorLike E, class D, class O, class U>
Task FlowBuilder::transform_inclusive_scan(B first, E last, D out, O op, U unary) {
  return emplace(make_transform_inclusive_scan_task(first, last, out, op, unary));
}
template <InputIteratorLike B, InputIteratorLike E, class D, class O, class U, class T>
Task FlowBuilder::transform_inclusive_scan(B first, E last, D out, O op, U unary, T init) {
  return emplace(make_transform_inclusive_scan_task(first, last, out, op, unary, init));
}
template <InputIteratorLike B, InputIteratorLike E, class D, class T, class O, class U>
Task FlowBuilder::transform_exclusive_scan(B first, E last, D out, T init, O op, U unary) {
  return emplace(make_transform_exclusive_scan_task(first, last, out, init, op, unary));
}

}  // namespace tf
