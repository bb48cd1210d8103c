// Bodies of mutex.hpp.
#pragma once

#include "heist/parallel/primitives/mutex.hpp"

#include <pthread.h>  // pthread_self

#include <system_error>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/scheduler/fiber.hpp"

namespace heist::detail {

HEIST_COLD_BODY void mutex_base::leave(void* me, queued_waiter<>& w, wait_end why) noexcept {
  wake_list<> notified;
  static_cast<mutex_base*>(me)->lock_.leave(static_cast<lock_waiter<>&>(w), why, notified);
}

HEIST_COLD_BODY bool mutex_base::wait(std::int64_t end) {
  if (spin_for(lock_, [this] { return lock_.owner() == 0 && lock_.try_acquire(this_owner()); })) return true;
  if (end == never && is_owner_here(lock_.owner())) {
    throw_waits_for_itself(
        "a task or thread locks a heist mutex that it has locked, or that one below it on its stack "
        "has, and would wait for itself; fix it by unlocking before, or by a heist::recursive_mutex");
  }
  waiter w{this_owner(), false};
  return wait_in_line(
      in_line(), w, end, [&] { return lock_.acquire_or_enter(w); }, [&] { return lock_.contend(w); });
}

HEIST_COLD_BODY void mutex_base::release_slow_path(std::uintptr_t seen) noexcept {
  if (seen == 0)
    HEIST_FATAL("a heist mutex is unlocked that is not locked; fix it by a std::scoped_lock, which does both once");
  if (is_owner_remote(seen)) {
    HEIST_FATAL(
        "a task unlocks a heist mutex that another task or thread has locked; fix it by a std::scoped_lock in the "
        "task that locks it, or, in a coroutine, by lock_async()");
  }
  if (lock_.try_release(seen)) return;
  wake_list<> notified;
  lock_.release_to_next(notified);
}

HEIST_COLD_BODY void mutex_base::reject_destruction() const noexcept {
  HEIST_FATAL(
      "a heist mutex is destroyed while a task or thread waits for it; fix it by joining the tasks and threads that "
      "use it "
      "before it goes");
}

}  // namespace heist::detail

namespace heist {

/// Of a thread outside; 0: the calling code is a task.
HEIST_COLD_BODY std::uintptr_t thread_outside() noexcept {
  return detail::this_fiber() != nullptr ? 0 : static_cast<std::uintptr_t>(::pthread_self());
}

HEIST_COLD_BODY void recursive_mutex::note_owner() noexcept {
  thread_.store(thread_outside(),
                std::memory_order_relaxed);  // relaxed: threads that are not the owner compare, and find themselves not
}

HEIST_COLD_BODY bool recursive_mutex::is_mine() const noexcept {
  if (owner() == 0) return false;
  std::uintptr_t const thread = thread_.load(std::memory_order_relaxed);  // relaxed: as above
  return thread == 0 ? detail::is_owner_here(owner()) : thread == thread_outside();
}

HEIST_COLD_BODY bool recursive_mutex::again() {
  if (!is_mine()) return false;
  if (times_ == ~0u) {
    throw std::system_error{std::make_error_code(std::errc::resource_unavailable_try_again),
                            "a heist::recursive_mutex is locked more often than it can count"};
  }
  ++times_;
  return true;
}

HEIST_COLD_BODY void recursive_mutex::unlock() noexcept {
  if (times_ != 0 && is_mine()) {
    --times_;
    return;
  }
  thread_.store(0, std::memory_order_relaxed);  // relaxed: as above
  release();
}

}  // namespace heist
