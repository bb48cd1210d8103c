// Bodies of shared_mutex.hpp.
#pragma once

#include "heist/parallel/primitives/shared_mutex.hpp"

#include "heist/core/base/assert.hpp"

namespace heist {

HEIST_COLD_BODY shared_mutex::~shared_mutex() {
  if (lock_.has_waiter())
    HEIST_FATAL(
        "a heist::shared_mutex is destroyed while a task or thread waits for it; fix it by joining the tasks and "
        "threads that "
        "use it before it goes");
}

HEIST_COLD_BODY bool shared_mutex::wait(std::uintptr_t id, std::int64_t end) {
  if (detail::spin_for(lock_, [&] { return lock_.seems_free(id) && lock_.try_acquire(id); })) return true;
  if (end == detail::never && detail::is_owner_here(lock_.writer())) {
    detail::throw_waits_for_itself(
        "a task or thread locks a heist::shared_mutex that it writes, or that one below it on its stack writes, and "
        "would wait for itself; fix it by unlocking before");
  }
  waiter w{id, false};
  return detail::wait_in_line(
      in_line(), w, end, [&] { return lock_.acquire_or_enter(w); },
      [&] {
        detail::wake_list<> notified;
        return lock_.contend(w, notified);
      });
}

HEIST_COLD_BODY void shared_mutex::unlock() noexcept {
  detail::wake_list<> notified;
  if (std::uintptr_t const writer = lock_.writer(); writer != 0 && detail::is_owner_remote(writer)) {
    HEIST_FATAL(
        "a task unlocks a heist::shared_mutex that another task or thread writes; fix it by a std::unique_lock in the "
        "task that locks it, or, in a coroutine, by lock_async()");
  }
  if (!lock_.release(notified))
    HEIST_FATAL(
        "a heist::shared_mutex is unlocked that has no writer; fix it by a std::unique_lock, which does both once");
}

HEIST_COLD_BODY void shared_mutex::unlock_shared() noexcept {
  detail::wake_list<> notified;
  if (!lock_.release_shared(notified))
    HEIST_FATAL(
        "a heist::shared_mutex is unlocked that has no reader; fix it by a std::shared_lock, which does both once");
}

HEIST_COLD_BODY void shared_mutex::leave(void* me, detail::queued_waiter<>& w, detail::wait_end why) noexcept {
  detail::wake_list<> notified;
  static_cast<shared_mutex*>(me)->lock_.leave(static_cast<waiter&>(w), why, notified);
}

}  // namespace heist
