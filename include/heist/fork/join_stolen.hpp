// The slow ways of forks and joins on the task stack.
#pragma once

#include <cstddef>  // size_t

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"

namespace heist::detail {

/// A fork that is not plain, of `count` tasks up to `at`: full, or asked for. True if they are on the stack.
HEIST_COLD inline bool forked(fiber& on, fork_slot* at, std::size_t count = 1) noexcept {
  on.label(at + 1);
  auto const outcome = on.tasks.forked(at, count);
  if (outcome == fork_stack::fork_outcome::published) on.home.published(*on.on);
  on.attend();
  return outcome != fork_stack::fork_outcome::full;
}

/// A join that is not plain: false if the child is stolen.
HEIST_COLD inline bool join_is_mine(fiber& on, fork_slot* at) noexcept {
  on.label(at);
  auto const outcome = on.tasks.join(at);
  if (outcome.published) on.home.published(*on.on);
  if (on.on->attention.raised()) on.tasks.ask();  // A1; forks look
  return outcome.mine;
}

inline void tell(fiber& on, fiber_event what) noexcept {
  if (core::fiber_hook const hook = on.home.on_fiber; hook != nullptr) hook(on.home, *on.on, on, what);
}

/// While a join waits without parking.
class waiting_join {
 public:
  explicit waiting_join(fiber& on) noexcept : on_{on} {
    ++on_.waiting_joins;
    tell(on_, fiber_event::waits);
  }
  waiting_join(waiting_join const&) = delete;
  waiting_join& operator=(waiting_join const&) = delete;
  ~waiting_join() {
    --on_.waiting_joins;
    tell(on_, fiber_event::works);
  }

 private:
  fiber& on_;
};

/// Wagner and Calder's leap-frogging: as long as the child runs, takes tasks that it has forked, from the fiber that it
/// runs on, and runs them on top of the waiting frame.
inline void leapfrog(fiber& on, fork_slot& at) {
  waiting_join const waits{on};
  while (!at.finished.done()) {
    fiber* const thief = at.thief.load(std::memory_order_acquire);  // acquire: pairs with run_stolen
    if (thief != nullptr) {
      tell(on, fiber_event::tries);
      auto const loot = thief->tasks.steal();
      if (loot.status == steal_status::stolen) {
        tell(on, fiber_event::takes);
        on.run_stolen(*loot.item);
        tell(on, fiber_event::waits);
        continue;
      }
      if (loot.status == steal_status::empty) thief->tasks.ask();
    }
    os_env::yield();
  }
}

/// Returns when the thief has run the child at `at`.
inline void wait_for_stolen(fiber& on, fork_slot* at) {
  on.on->report_tally();
  switch (on.home.joins) {
    case join_strategy::park:
      on.wait_for(at->finished);
      break;
    case join_strategy::leapfrog:
      leapfrog(on, *at);
      break;
    case join_strategy::wait: {
      waiting_join const waits{on};
      while (!at->finished.done()) os_env::yield();
      break;
    }
  }
}

/// The stolen child's outcome has been taken.
inline void free_slot(fiber& on, fork_slot* at) noexcept {
  at->run = nullptr;
  on.tasks.reclaim(at);
}

}  // namespace heist::detail
