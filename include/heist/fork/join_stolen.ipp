// Bodies of join_stolen.hpp.
#pragma once

#include "heist/fork/join_stolen.hpp"

#include "heist/base/env.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool forked(fiber& on, fork_slot* at, std::size_t count) noexcept {
  on.label(at + 1);
  auto const outcome = on.tasks.forked(at, count);
  if (outcome == fork_stack::fork_outcome::published) on.home.published(*on.on);
  on.attend();
  return outcome != fork_stack::fork_outcome::full;
}

HEIST_COLD_BODY bool join_is_mine(fiber& on, fork_slot* at) noexcept {
  on.label(at);
  auto const outcome = on.tasks.join(at);
  if (outcome.published) on.home.published(*on.on);
  if (on.on->attention.raised()) on.tasks.ask();  // A1; forks look
  return outcome.mine;
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

HEIST_COLD_BODY void leapfrog(fiber& on, fork_slot& at) {
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

HEIST_COLD_BODY void wait_for_stolen(fiber& on, fork_slot* at) {
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

}  // namespace heist::detail
