// Which of a fork's tasks runs first, and what a frame does whose stolen task has not ended.
#pragma once

#include <concepts>

namespace heist {

/// What becomes of a parent-first frame at a join whose task was stolen and has not ended. Except for `park` the frame
/// keeps its worker: a program in which tasks also wait for futures, runs or limiters may then stand still, with all
/// workers in such joins.
enum class join_strategy {
  park,      ///< the frame waits on its fiber, and its worker takes any work; ours
  leapfrog,  ///< the worker runs tasks that the stolen one has forked, on top of the frame (Wagner and Calder; Wool)
  wait       ///< the worker does nothing else: to compare with
};

namespace order {

/// The forking task goes on with the first callable; thieves take the others, oldest first. A fork costs little more
/// than a call.
struct parent_first {
  static constexpr bool child_starts = false;
};

/// The first callable starts at once, on a stack of its own; thieves take the rest of the forking task. On one worker
/// it runs in the order of the serial program, and needs no more memory than that on P workers, P times (Cilk).
struct child_first {
  static constexpr bool child_starts = true;
};

/// What a fork asks of an order.
// clang-format off
template <class O>
concept fork_order = requires {
  { O::child_starts } -> std::convertible_to<bool>;
};
// clang-format on

}  // namespace order

namespace join {

/// The strategies as types, for policies.
struct park {
  static constexpr join_strategy strategy = join_strategy::park;
};
struct leapfrog {
  static constexpr join_strategy strategy = join_strategy::leapfrog;
};
struct wait {
  static constexpr join_strategy strategy = join_strategy::wait;
};

}  // namespace join
}  // namespace heist
