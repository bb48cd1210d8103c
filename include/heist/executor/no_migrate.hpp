// What keeps a task on its thread.
#pragma once

#include "heist/executor/context.hpp"
#include "heist/fiber/current.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/worker.hpp"

namespace heist {

namespace detail {
/// The fiber that the calling thread runs on; null outside of tasks.
inline fiber* this_fiber() noexcept {
  worker* const w = this_worker();
  return w == nullptr ? nullptr : w->current.load(std::memory_order_relaxed);  // relaxed: its own
}
}  // namespace detail

/// While it lives, the task resumes on the thread that it is on now, whatever it forks, joins or waits for: for
/// thread_local variables, errno and locks. What it forks may still run elsewhere (under child-first order it is called
/// in place). To be made and destroyed by the same task; outside of tasks it does nothing.
///
/// A lock for which other tasks block must not be held over a fork or a wait, not even under this guard: while the
/// holder waits for a child that was stolen, its thread may begin one of them, and then never comes back to it. Unlock
/// before, or take a heist::mutex (heist/sync.hpp), for which tasks wait without their thread.
///
/// Cost  two increments; a task that waits under a guard resumes only when its worker has nothing else to do at hand.
class no_migrate {
 public:
  no_migrate() noexcept : fiber_{detail::this_fiber()} {
    if (fiber_ != nullptr) ++fiber_->no_migrate;
  }
  no_migrate(no_migrate const&) = delete;
  no_migrate& operator=(no_migrate const&) = delete;
  ~no_migrate() {
    if (fiber_ != nullptr) --fiber_->no_migrate;
  }

 private:
  detail::fiber* fiber_;
};

}  // namespace heist
