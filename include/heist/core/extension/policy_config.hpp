// The policy's settings and fiber events for the part of an executor that does not depend on the policy.
#pragma once

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/sync/idle_gate.hpp"

namespace heist::detail {

/// The constants of a policy as values, for the code that need not know its type.
struct policy_config {
  idle_config idle;
  join_strategy joins;
  fork_order order;
  bool examines_machine;  ///< before the workers start
  bool has_mail;
  unique_ptr<executor_extension> (*make_extension)(core& scheduler);
};

/// A change of a fiber, or of a join on it that waits without parking.
enum class fiber_event {
  parks,
  resumes,  ///< after having parked
  waits,    ///< its youngest join waits, with nothing to run meanwhile
  tries,    ///< the join tries to take a task,
  takes,    ///< has one, and runs it
  works     ///< the join is over
};

}  // namespace heist::detail
