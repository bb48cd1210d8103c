// The slow ways of forks and joins on the task stack.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// A fork that is not plain, of `count` tasks up to `at`: full, or asked for. True if they are on the stack.
HEIST_RARE bool forked(fiber& self, fork_slot* at, std::size_t count = 1) noexcept;

/// A join that is not plain: false if the child is stolen. Then the slot is marked with `run` again.
HEIST_RARE bool join_is_mine(fiber& self, fork_slot* at, fork_slot::run_function run) noexcept;

inline void tell(fiber& self, fiber_event what) noexcept {
  if (core::fiber_hook const hook = self.scheduler.on_fiber; hook != nullptr)
    hook(self.scheduler, *self.worker, self, what);
}

/// Wagner and Calder's leap-frogging: as long as the child runs, takes its forked tasks from its fiber, and runs them
/// on top of the waiting frame.
void leapfrog(fiber& self, fork_slot& at);

/// Returns when the thief has run the child at `at`.
void wait_for_stolen(fiber& self, fork_slot* at);

/// The stolen child's outcome has been taken.
inline void free_slot(fiber& self, fork_slot* at) noexcept {
  at->clear();
  fork_stack::owner_part const here{self.tasks};
  self.tasks.reclaim(at);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fork/join_stolen.ipp"
#endif
