// Bodies of join_stolen.hpp.
#pragma once

#include "heist/core/fork/join_stolen.hpp"

#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool forked(fiber& self, fork_slot* at, std::size_t count) noexcept {
  auto const outcome = [&] {
    fork_stack::owner_part const here{self.tasks};
    self.label(at + 1);
    return self.tasks.forked(at, count);
  }();
  if (outcome == fork_stack::fork_outcome::published) self.scheduler.published(*self.worker);
  self.handle_notification();
  return outcome != fork_stack::fork_outcome::full;
}

HEIST_COLD_BODY bool join_is_mine(fiber& self, fork_slot* at, fork_slot::run_function run) noexcept {
  auto const outcome = [&] {
    fork_stack::owner_part const here{self.tasks};
    self.label(at);
    auto const what = self.tasks.join(at);
    if (!what.mine) at->mark(run);
    return what;
  }();
  if (outcome.published) self.scheduler.published(*self.worker);
  if (self.worker->notification.is_set()) self.tasks.ask();  // A1; forks look
  return outcome.mine;
}

/// While a join waits without parking.
class waiting_join {
 public:
  explicit waiting_join(fiber& self) noexcept : on_{self} {
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

HEIST_COLD_BODY void leapfrog(fiber& self, fork_slot& at) {
  waiting_join const waits{self};
  for (std::uint32_t attempts = 1; !at.finished.is_ready(); ++attempts) {
    fiber* const thief = at.thief.load(std::memory_order_acquire);  // acquire: pairs with run_stolen
    if (thief != nullptr) {
      tell(self, fiber_event::tries);
      auto const stolen_task = thief->tasks.steal();
      if (stolen_task.status == steal_status::stolen) {
        tell(self, fiber_event::takes);
        in_modes const begins_in{self.scheduler.modes()};
        outside_its_loop const no_loop{self};
        self.run_stolen(*stolen_task.item);
        tell(self, fiber_event::waits);
        continue;
      }
      if (stolen_task.status == steal_status::empty) {
        thief->tasks.ask();
        if (attempts % 16 == 0 && self.scheduler.open_task_stacks({&thief, 1}) != nullptr) continue;
      }
    }
    os_env::yield();
  }
}

HEIST_COLD_BODY void wait_for_stolen(fiber& self, fork_slot* at) {
  self.worker->report_pending_count();
  switch (self.scheduler.joins) {
    case join_strategy::park:
      self.wait_for(at->finished);
      break;
    case join_strategy::leapfrog:
      leapfrog(self, *at);
      break;
    case join_strategy::wait: {
      waiting_join const waits{self};
      while (!at->finished.is_ready()) os_env::yield();
      break;
    }
  }
}

}  // namespace heist::detail
