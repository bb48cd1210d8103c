// Keeps a task on its thread.
#pragma once

#include "heist/core/executor/context.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist {

namespace detail {
/// The fiber that the calling thread runs on; null outside of tasks.
inline fiber* this_fiber() noexcept {
  worker* const w = this_worker();
  return w == nullptr ? nullptr : w->current.load(std::memory_order_relaxed);  // relaxed: its own
}
}  // namespace detail

/// Keeps the task on its present thread during forks, joins and waits: for thread_local variables, errno and locks.
/// Its children may still run on other threads (under child-first order they are called in place). The same task
/// makes and destroys it. Outside of tasks it has no effect.
///
/// Do not hold a std::mutex over a fork or a wait, not even under this guard. While the holder waits for a stolen
/// child, its thread may begin a task that blocks on the mutex, and then never returns to the holder. Unlock before,
/// or use a heist::mutex (heist/sync.hpp).
///
/// Cost  two increments. A task that waits under a guard resumes only when its worker has no other task at hand.
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
