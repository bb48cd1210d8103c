// What keeps a task on its thread, and a mutex that notices when that is needed.
#pragma once

#include <mutex>

#include "heist/base/assert.hpp"
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
/// before, or let a graph's tasks share a heist::limiter, for which tasks wait without their thread.
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

/// std::mutex for use inside tasks. A task that holds it and reaches a fork or a join where it might resume on another
/// thread, which must not unlock it, ends the program with a sentence in debug builds; a std::mutex would be unlocked
/// by the wrong thread now and then.
class mutex {
 public:
  void lock() {
    if (!mutex_.try_lock()) wait_and_lock();
    count(1);
  }
  bool try_lock() {
    bool const locked = mutex_.try_lock();
    if (locked) count(1);
    return locked;
  }
  void unlock() {
    count(-1);
    mutex_.unlock();
  }

 private:
  void wait_and_lock() {
    detail::unmeasured const waits{detail::this_fiber()};
    mutex_.lock();
  }
  static void count([[maybe_unused]] int n) noexcept {
#ifndef NDEBUG
    if (detail::fiber* const f = detail::this_fiber(); f != nullptr) f->locks += static_cast<std::uint32_t>(n);
#endif
  }

  std::mutex mutex_;
};

}  // namespace heist
