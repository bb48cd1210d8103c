// The division of a range into tasks, and the run of a loop in its group.
#pragma once

#include <bit>      // bit_width
#include <cstddef>  // size_t
#include <type_traits>
#include <utility>  // forward

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
#include "heist/compat/tbb/oneapi/tbb/detail/arena.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/group_context.hpp"
#include "heist/compat/tbb/oneapi/tbb/partitioner.h"

namespace tbb::detail {

/// Calls f(), unless the group is cancelled. An exception of f() cancels the group.
template <class F>
void run_in(task_group_context& group, F&& f) noexcept {
  if (group.is_group_execution_cancelled()) return;
  try {
    f();
  } catch (...) {
    group_access::fail(group);
  }
}

/// Calls f() as a task of the caller's arena and of `group`. Rethrows what the group has kept.
template <class F>
void run_group(task_group_context& group, F&& f) {
  group_access::bind(group);
  if (!group.is_group_execution_cancelled()) {
    current_arena().enter([&] {
      keep_task_state const kept;
      this_task().group = &group;
      run_in(group, f);
    });
  }
  group_access::rethrow(group);
}

template <class Range>
concept divisible_by_parts = std::is_constructible_v<Range, Range&, proportional_split&>;

struct halving {
  template <class Range>
  static Range take_right(Range& r, halving&) {
    return Range(r, split{});
  }
};

/// When to divide: asked with each range before it runs. Copied to both halves.
class divide_fully : public halving {
 public:
  explicit divide_fully(std::size_t) noexcept {}
  bool should_divide() noexcept { return true; }
};

/// Into 16 tasks for each worker at first. A task that was stolen may be divided twice more.
class divide_by_need : public halving {
 public:
  explicit divide_by_need(std::size_t workers) noexcept
      : depth_{static_cast<unsigned>(std::bit_width(workers)) + 4}, worker_{heist::current_worker().value_or(0)} {}
  bool should_divide() noexcept {
    std::size_t const here = heist::current_worker().value_or(0);
    if (here != worker_) depth_ += 2;
    worker_ = here;
    if (depth_ == 0) return false;
    --depth_;
    return true;
  }

 private:
  unsigned depth_;
  std::size_t worker_;
};

/// Into `parts` tasks of the same length.
class divide_evenly {
 public:
  explicit divide_evenly(std::size_t parts) noexcept : parts_{parts} {}
  bool should_divide() const noexcept { return parts_ > 1; }
  template <class Range>
  Range take_right(Range& r, divide_evenly& right) {
    right.parts_ = parts_ / 2;
    parts_ -= right.parts_;
    if constexpr (divisible_by_parts<Range>) {
      proportional_split p{parts_, right.parts_};
      return Range(r, p);
    } else {
      return Range(r, split{});
    }
  }

 private:
  std::size_t parts_;
};

template <class Rule, std::size_t Parts = 1>
struct rule {
  using type = Rule;
  static constexpr std::size_t parts_per_worker = Parts;
};
template <class Partitioner>
struct rule_of : rule<divide_by_need> {};
template <>
struct rule_of<simple_partitioner> : rule<divide_fully> {};
template <>
struct rule_of<static_partitioner> : rule<divide_evenly> {};
template <>
struct rule_of<affinity_partitioner> : rule<divide_evenly, 16> {};

/// Inside the arena in which the loop runs.
template <class Partitioner>
auto rule_for(Partitioner const&) {
  using found = rule_of<std::remove_cv_t<Partitioner>>;
  return typename found::type{heist::current_executor()->worker_count() * found::parts_per_worker};
}

/// Calls f() as a run of the partitioner's region, if it has one.
template <class Partitioner, class F>
void within(Partitioner& p, F&& f) {
  if constexpr (std::is_same_v<Partitioner, affinity_partitioner>) {
    if constexpr (std::is_same_v<arena::executor, heist::executor<heist::policy::random>>) {
      f();  // it has no memory
    } else {
      keep_task_state const kept;
      heist::current_executor()->invoke(p.region(), [&, state = this_task()](heist::context) { run_as(state, f); });
    }
  } else {
    f();
  }
}

/// Runs leaf(r) for the parts of `r`.
template <class Range, class Rule, class Leaf>
void divide(task_group_context& group, Range& r, Rule rule, Leaf const& leaf) noexcept {
  if (group.is_group_execution_cancelled()) return;
  if (!r.is_divisible() || !rule.should_divide()) return run_in(group, [&] { leaf(r); });
  run_in(group, [&] {
    Rule right_rule{rule};
    Range right{rule.take_right(r, right_rule)};
    fork([&] { divide(group, r, rule, leaf); }, [&] { divide(group, right, right_rule, leaf); });
  });
}

}  // namespace tbb::detail
