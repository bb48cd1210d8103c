// Searches: the first element that matches, the least and the greatest.
#pragma once

#include <mutex>

#include "heist/compat/taskflow/taskflow/algorithm/parts.hpp"

namespace tf {

namespace detail {

/// The best element that some task has found, and its number.
template <class T>
struct found {
  explicit found(T& of) noexcept : result{of} {}
  T& result;
  std::mutex lock;
  std::size_t index = ~std::size_t{0};
};

template <class I, class T, class U>
struct find_body {
  cursor<I> in;
  U predicate;
  std::shared_ptr<found<T>> best;
  bool operator()(std::size_t from, std::size_t to) {
    I& i = in.at(from);
    for (std::size_t n = from; n != to; ++n, void(++i)) {
      if (!predicate(*i)) continue;
      std::lock_guard const guard{best->lock};
      if (n < best->index) {
        best->index = n;
        best->result = i;
      }
      return true;
    }
    in.passed(to);
    return false;
  }
};

/// The first of those that no other element is before.
template <class I, class T, class Before>
struct extreme_body {
  cursor<I> in;
  Before before;
  std::shared_ptr<found<T>> best;
  std::size_t index = ~std::size_t{0};
  I own = {};
  void operator()(std::size_t from, std::size_t to) {
    I& i = in.at(from);
    for (std::size_t n = from; n != to; ++n, void(++i)) {
      if (index != ~std::size_t{0} && !before(*i, *own)) continue;
      own = i;
      index = n;
    }
    in.passed(to);
  }
  void end() {
    if (index == ~std::size_t{0}) return;
    std::lock_guard const guard{best->lock};
    bool const first = best->index == ~std::size_t{0} || before(*own, *best->result) ||
                       (index < best->index && !before(*best->result, *own));
    if (!first) return;
    best->index = index;
    best->result = own;
  }
};

template <class B, class E, class T, class Before, class P>
auto make_extreme_task(B first, E last, T& result, Before before, P part) {
  return later(
      [before, part, &result](Runtime& runtime, auto b, auto e) {
        result = e;
        run_parts(runtime, length(b, e), part,
                  extreme_body<decltype(b), T, Before>{cursor(b), before, std::make_shared<found<T>>(result)});
      },
      first, last);
}

}  // namespace detail

template <InputIteratorLike B, InputIteratorLike E, class T, class U, PartitionerLike P = DefaultPartitioner>
auto make_find_if_task(B first, E last, T& result, U predicate, P part = P()) {
  return detail::later(
      [predicate, part, &result](Runtime& runtime, auto b, auto e) {
        result = e;
        detail::run_parts(runtime, detail::length(b, e), part,
                          detail::find_body<decltype(b), T, U>{detail::cursor(b), predicate,
                                                               std::make_shared<detail::found<T>>(result)});
      },
      first, last);
}
template <InputIteratorLike B, InputIteratorLike E, class T, class U, PartitionerLike P = DefaultPartitioner>
auto make_find_if_not_task(B first, E last, T& result, U predicate, P part = P()) {
  return make_find_if_task(
      first, last, result, [predicate](auto&& x) mutable { return !predicate(x); }, part);
}
template <InputIteratorLike B, InputIteratorLike E, class T, class C, PartitionerLike P = DefaultPartitioner>
auto make_min_element_task(B first, E last, T& result, C less, P part = P()) {
  return detail::make_extreme_task(first, last, result, less, part);
}
template <InputIteratorLike B, InputIteratorLike E, class T, class C, PartitionerLike P = DefaultPartitioner>
auto make_max_element_task(B first, E last, T& result, C less, P part = P()) {
  return detail::make_extreme_task(
      first, last, result, [less](auto const& a, auto const& b) mutable { return less(b, a); }, part);
}

template <InputIteratorLike B, InputIteratorLike E, class T, class U, PartitionerLike P>
Task FlowBuilder::find_if(B first, E last, T& result, U predicate, P part) {
  return emplace(make_find_if_task(first, last, result, predicate, part));
}
template <InputIteratorLike B, InputIteratorLike E, class T, class U, PartitionerLike P>
Task FlowBuilder::find_if_not(B first, E last, T& result, U predicate, P part) {
  return emplace(make_find_if_not_task(first, last, result, predicate, part));
}
template <InputIteratorLike B, InputIteratorLike E, class T, class C, PartitionerLike P>
Task FlowBuilder::min_element(B first, E last, T& result, C less, P part) {
  return emplace(make_min_element_task(first, last, result, less, part));
}
template <InputIteratorLike B, InputIteratorLike E, class T, class C, PartitionerLike P>
Task FlowBuilder::max_element(B first, E last, T& result, C less, P part) {
  return emplace(make_max_element_task(first, last, result, less, part));
}

}  // namespace tf
