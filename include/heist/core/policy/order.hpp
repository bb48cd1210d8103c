// Which of a fork's tasks runs first, and how a frame waits whose stolen task has not ended.
#pragma once

#include <concepts>

namespace heist {

/// The way a parent-first frame waits at a join whose task was stolen and has not ended. Except for `park` the frame
/// keeps its worker: a program in which tasks also wait for futures, runs or limiters may then stand still, with all
/// workers in such joins.
enum class join_strategy {
  park,      ///< the frame waits on its fiber, and its worker takes any work; ours
  leapfrog,  ///< the worker runs tasks that the stolen one has forked, on top of the frame (Wagner and Calder; Wool)
  wait       ///< the worker does nothing else: to compare with
};

/// Which of a fork's tasks runs first, as a value.
enum class fork_order {
  parent_first,
  child_first,
  recorded,  ///< child-first, and a region's run notes its steals
  by_tier    ///< each fork as the tier says in which it is
};

namespace order {

/// Child stealing (help-first): the forking task continues with the first callable; thieves take the other callables,
/// oldest first. A fork costs little more than a call.
struct parent_first {
  static constexpr fork_order value = fork_order::parent_first;
};

/// Continuation stealing (work-first): the first callable starts at once, on a stack of its own; thieves take the rest
/// of the forking task. On one worker it runs in the order of the serial program, with that program's memory. On P
/// workers it needs at most P times as much (Cilk).
struct child_first {
  static constexpr fork_order value = fork_order::child_first;
};

/// child_first, and a region's run notes which worker stole which part of it (region::tree). "Optimizing Data Locality
/// for Fork/Join Programs Using Constrained Work Stealing" (Lifflander, Krishnamoorthy, Kale, SC 2014).
struct recorded {
  static constexpr fork_order value = fork_order::recorded;
};

/// Parent-first between squads, so that all squads get work soon; child-first within a squad. Parent-first where a
/// program is not divided into tiers (CAB, section III.C; CATS, section 3.4).
struct by_tier {
  static constexpr fork_order value = fork_order::by_tier;
};

/// Parent-first, in a region that a policy of order `Order` does not divide; what parent_first is, told apart so that a
/// region within can be divided.
template <class Order>
struct sequential_by {};
struct sequential : parent_first, sequential_by<by_tier> {};

/// The requirements of a fork on an order.
// clang-format off
template <class O>
concept forks_in_order = requires {
  { O::value } -> std::convertible_to<fork_order>;
};
// clang-format on

}  // namespace order

namespace join {

/// The strategies as types, for policies.
struct park {
  static constexpr join_strategy strategy = join_strategy::park;
};
/// A join that waits runs the forks of its child's thief, on top.
struct leapfrog {
  static constexpr join_strategy strategy = join_strategy::leapfrog;
};
/// A join that waits looks at its child again and again, and runs nothing.
struct spin {
  static constexpr join_strategy strategy = join_strategy::wait;
};

}  // namespace join
}  // namespace heist
