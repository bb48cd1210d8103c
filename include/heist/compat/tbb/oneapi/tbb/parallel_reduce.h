// parallel_reduce and parallel_deterministic_reduce.
#pragma once

#include <atomic>
#include <functional>  // invoke
#include <optional>
#include <utility>  // move

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/parallel_for.h"
#include "heist/compat/tbb/oneapi/tbb/partitioner.h"

namespace tbb {

namespace detail {

/// A body made of functions.
template <class Range, class Value, class F, class Join>
class function_body {
 public:
  function_body(Value const& identity, F const& f, Join const& join)
      : identity_{identity}, f_{f}, join_{join}, value_(identity) {}
  function_body(function_body& other, split)
      : identity_{other.identity_}, f_{other.f_}, join_{other.join_}, value_(other.identity_) {}

  void operator()(Range& r) { value_ = std::invoke(f_, std::as_const(r), std::move(value_)); }
  void join(function_body& right) { value_ = std::invoke(join_, std::move(value_), std::move(right.value_)); }
  Value&& value() { return std::move(value_); }

 private:
  Value const& identity_;
  F const& f_;
  Join const& join_;
  Value value_;
};

/// A half gets a body of its own if it begins before the other half has ended, and always if `Always`.
template <bool Always, class Range, class Rule, class Body>
void reduce(task_group_context& group, Range& r, Rule rule, Body& body) noexcept {
  if (group.is_group_execution_cancelled()) return;
  if (!r.is_divisible() || !rule.should_divide()) return run_in(group, [&] { body(r); });
  run_in(group, [&] {
    Rule right_rule{rule};
    Range right{rule.take_right(r, right_rule)};
    std::atomic<bool> left_has_ended{false};
    std::optional<Body> own;
    if constexpr (Always) own.emplace(body, split{});
    fork(
        [&] {
          reduce<Always>(group, r, rule, body);
          left_has_ended.store(true, std::memory_order_release);  // release: the right half uses the body
        },
        [&] {
          if (!Always && left_has_ended.load(std::memory_order_acquire))  // acquire: the left half's use of the body
            return reduce<Always>(group, right, right_rule, body);
          run_in(group, [&] {
            if constexpr (!Always) own.emplace(body, split{});
            reduce<Always>(group, right, right_rule, *own);
          });
        });
    if (own && !group.is_group_execution_cancelled()) body.join(*own);
  });
}

template <bool Always, class Range, class Body, class Partitioner>
void reduction(Range const& range, Body& body, Partitioner& how, task_group_context& group) {
  if (range.empty()) return;
  run_group(group, [&] {
    within(how, [&] {
      Range all(range);
      reduce<Always>(group, all, rule_for(how), body);
    });
  });
}

template <bool Always, class Range, class Value, class F, class Join, class Partitioner>
Value reduction_of(Range const& range, Value const& identity, F const& f, Join const& join, Partitioner& how,
                   task_group_context& group) {
  function_body<Range, Value, F, Join> body{identity, f, join};
  reduction<Always>(range, body, how, group);
  return body.value();
}

}  // namespace detail

/// Body: body(part) adds a part of the range; Body(body, split{}) begins a sum of its own; body.join(right) adds that.
template <class Range, class Body>
void parallel_reduce(Range const& range, Body& body) {
  task_group_context group;
  auto_partitioner const how;
  detail::reduction<false>(range, body, how, group);
}
template <class Range, class Body>
void parallel_reduce(Range const& range, Body& body, task_group_context& group) {
  auto_partitioner const how;
  detail::reduction<false>(range, body, how, group);
}
template <class Range, class Body, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_reduce(Range const& range, Body& body,
                                                                               P&& how) {
  task_group_context group;
  detail::reduction<false>(range, body, how, group);
}
template <class Range, class Body, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_reduce(Range const& range, Body& body, P&& how,
                                                                               task_group_context& group) {
  detail::reduction<false>(range, body, how, group);
}

/// f(part, sum) returns sum and the part's; join(left, right) adds two sums.
template <class Range, class Value, class F, class Join>
Value parallel_reduce(Range const& range, Value const& identity, F const& f, Join const& join) {
  task_group_context group;
  auto_partitioner const how;
  return detail::reduction_of<false>(range, identity, f, join, how, group);
}
template <class Range, class Value, class F, class Join>
Value parallel_reduce(Range const& range, Value const& identity, F const& f, Join const& join,
                      task_group_context& group) {
  auto_partitioner const how;
  return detail::reduction_of<false>(range, identity, f, join, how, group);
}
template <class Range, class Value, class F, class Join, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) Value
    parallel_reduce(Range const& range, Value const& identity, F const& f, Join const& join, P&& how) {
  task_group_context group;
  return detail::reduction_of<false>(range, identity, f, join, how, group);
}
template <class Range, class Value, class F, class Join, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) Value
    parallel_reduce(Range const& range, Value const& identity, F const& f, Join const& join, P&& how,
                    task_group_context& group) {
  return detail::reduction_of<false>(range, identity, f, join, how, group);
}

/// As parallel_reduce. Which sums are added depends on the range and the partitioner alone (and on the number of workers with
/// static_partitioner).
template <class Range, class Body>
void parallel_deterministic_reduce(Range const& range, Body& body) {
  task_group_context group;
  simple_partitioner const how;
  detail::reduction<true>(range, body, how, group);
}
template <class Range, class Body>
void parallel_deterministic_reduce(Range const& range, Body& body, task_group_context& group) {
  simple_partitioner const how;
  detail::reduction<true>(range, body, how, group);
}
template <class Range, class Body, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_deterministic_reduce(Range const& range,
                                                                                             Body& body, P&& how) {
  task_group_context group;
  detail::reduction<true>(range, body, how, group);
}
template <class Range, class Body, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) void parallel_deterministic_reduce(
    Range const& range, Body& body, P&& how, task_group_context& group) {
  detail::reduction<true>(range, body, how, group);
}
template <class Range, class Value, class F, class Join>
Value parallel_deterministic_reduce(Range const& range, Value const& identity, F const& f, Join const& join) {
  task_group_context group;
  simple_partitioner const how;
  return detail::reduction_of<true>(range, identity, f, join, how, group);
}
template <class Range, class Value, class F, class Join>
Value parallel_deterministic_reduce(Range const& range, Value const& identity, F const& f, Join const& join,
                                    task_group_context& group) {
  simple_partitioner const how;
  return detail::reduction_of<true>(range, identity, f, join, how, group);
}
template <class Range, class Value, class F, class Join, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) Value
    parallel_deterministic_reduce(Range const& range, Value const& identity, F const& f, Join const& join, P&& how) {
  task_group_context group;
  return detail::reduction_of<true>(range, identity, f, join, how, group);
}
template <class Range, class Value, class F, class Join, class P>
requires(detail::partitioner<std::remove_reference_t<P>>) Value
    parallel_deterministic_reduce(Range const& range, Value const& identity, F const& f, Join const& join, P&& how,
                                  task_group_context& group) {
  return detail::reduction_of<true>(range, identity, f, join, how, group);
}

}  // namespace tbb
