// Waiting for a completion, from a task or from a thread outside.
#pragma once

#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"
#include "heist/sched/current.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

/// While a task of a region's run waits for what it has not forked: its squad may take other tasks, which may be just
/// what it waits for.
class outside_wait {
 public:
  explicit outside_wait(fiber& on) noexcept : home_{&on.home}, in_{on.bound() != nullptr ? on.bound()->in : nullptr} {
    if (in_ != nullptr) home_->squads.wait_outside_begins(*in_);
  }
  outside_wait(outside_wait const&) = delete;
  outside_wait& operator=(outside_wait const&) = delete;
  ~outside_wait() {
    if (in_ != nullptr) home_->squads.wait_outside_ends(*in_);
  }

 private:
  core* home_;
  squad* in_;
};

/// Returns when `c` is complete. Inside a task of any executor it parks the task, whose worker goes on with other work;
/// outside it blocks the thread.
/// `generation`: of the process that will complete it; in a child of that one it throws executor_error.
inline void wait_for(completion& c, unsigned generation) {
  if (c.done()) return;
  core::check_process(generation);
  if (worker* const w = this_worker(); w != nullptr) {
    fiber& on = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    outside_wait const told{on};
    on.wait_for(c);
    return;
  }
  thread_waiter<> me;
  if (c.enlist(me)) me.wait();
}

}  // namespace heist::detail
