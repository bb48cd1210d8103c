// What the part of an executor that does not depend on its policy knows of it, and tells of fibers.
#pragma once

#include "heist/observe/counter_handle.hpp"
#include "heist/policy/order.hpp"
#include "heist/policy/tier.hpp"
#include "heist/sched/idle_gate.hpp"

namespace heist::detail {

/// The constants of a policy as values, for the code that need not know its type.
struct policy_rules {
  idle_rules idle;
  join_strategy joins;
  fork_order order;
  tiering tiers;
  counter_operations const* counters;  ///< null: nothing is measured
};

/// What becomes of a fiber, or of a join on it that waits without parking.
enum class fiber_event {
  parks,
  goes_on,  ///< after having parked
  waits,    ///< its youngest join waits, with nothing to run meanwhile
  tries,    ///< that join tries to take a task,
  takes,    ///< has one, and runs it
  works,    ///< that join is over
  enters,   ///< an inter-squad task begins on it, or goes on after its children
  leaves,   ///< that task has ended, or waits for inter-squad children
  moves     ///< its worker goes on with it, within the subtree of an inter-squad task
};

}  // namespace heist::detail
