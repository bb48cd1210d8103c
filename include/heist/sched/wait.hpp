// Waiting for a completion, from a task or from a thread outside.
#pragma once

#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"
#include "heist/sched/current.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

/// Returns when `c` is complete. Inside a task of any executor it parks the task, whose worker goes on with other work;
/// outside it blocks the thread.
/// `generation`: of the process that will complete it; in a child of that one it throws executor_error.
inline void wait_for(completion& c, unsigned generation) {
  if (c.done()) return;
  core::check_process(generation);
  if (worker* const w = this_worker(); w != nullptr) {
    w->current.load(std::memory_order_relaxed)->wait_for(c);  // relaxed: its own
    return;
  }
  thread_waiter<> me;
  if (c.enlist(me)) me.wait();
}

}  // namespace heist::detail
