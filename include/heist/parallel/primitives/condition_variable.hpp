// A condition variable for any lock.
#pragma once

#include <chrono>
#include <condition_variable>  // cv_status
#include <cstdint>
#include <stop_token>
#include <utility>  // move

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/parallel/primitives/waiting.hpp"

namespace heist {

namespace detail {

/// While it lives, no stop ends waits of the calling frame: it must get its lock back.
class keeps_waiting {
 public:
  keeps_waiting() noexcept;
  keeps_waiting(keeps_waiting const&) = delete;
  keeps_waiting& operator=(keeps_waiting const&) = delete;
  ~keeps_waiting();

 private:
  fiber* const fiber_;
};

/// Locks at the end, whatever happens.
template <class Lock>
class unlocked {
 public:
  explicit unlocked(Lock& lock) noexcept : lock_{lock} {}
  unlocked(unlocked const&) = delete;
  unlocked& operator=(unlocked const&) = delete;
  ~unlocked() {
    keeps_waiting const until_locked;
    lock_.lock();
  }

 private:
  Lock& lock_;
};

}  // namespace detail

/// As std::condition_variable_any, for tasks and threads at once; with heist's mutexes a task that waits parks.
///
/// Order   notify_one() wakes the one that has waited longest.
/// Stops   a stop of the waiting task ends a wait with stopped_error, when it has its lock again.
/// Cost    notifying without waiters: a detail::spin_lock.
/// Promises it may be destroyed when all waiters have been notified, as the standard's.
class condition_variable_any {
 public:
  condition_variable_any() = default;
  condition_variable_any(condition_variable_any const&) = delete;
  condition_variable_any& operator=(condition_variable_any const&) = delete;
  ~condition_variable_any();

  void notify_one() noexcept;
  void notify_all() noexcept;

  template <class Lock>
  void wait(Lock& lock) {
    static_cast<void>(wait_once(lock, detail::never, {}));
  }
  template <class Lock, class Condition>
  void wait(Lock& lock, Condition condition) {
    while (!condition()) wait(lock);
  }
  template <class Lock, class Clock, class Duration>
  std::cv_status wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> const& when) {
    static_cast<void>(wait_once(lock, detail::until(when), {}));
    return Clock::now() < when ? std::cv_status::no_timeout : std::cv_status::timeout;
  }
  template <class Lock, class Clock, class Duration, class Condition>
  bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> const& when, Condition condition) {
    while (!condition()) {
      if (wait_until(lock, when) == std::cv_status::timeout) return condition();
    }
    return true;
  }
  template <class Lock, class Rep, class Period>
  std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> const& time) {
    return wait_until(lock, later(time));
  }
  template <class Lock, class Rep, class Period, class Condition>
  bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> const& time, Condition condition) {
    return wait_until(lock, later(time), std::move(condition));
  }
  /// A stop of `token` ends the wait, too: returns what `condition()` says then.
  template <class Lock, class Condition>
  bool wait(Lock& lock, std::stop_token token, Condition condition) {
    while (!condition()) {
      if (token.stop_requested()) return false;
      static_cast<void>(wait_once(lock, detail::never, token));
    }
    return true;
  }
  template <class Lock, class Clock, class Duration, class Condition>
  bool wait_until(Lock& lock, std::stop_token token, std::chrono::time_point<Clock, Duration> const& when,
                  Condition condition) {
    while (!condition()) {
      if (token.stop_requested()) return false;
      static_cast<void>(wait_once(lock, detail::until(when), token));
      if (Clock::now() >= when) return condition();
    }
    return true;
  }
  template <class Lock, class Rep, class Period, class Condition>
  bool wait_for(Lock& lock, std::stop_token token, std::chrono::duration<Rep, Period> const& time,
                Condition condition) {
    return wait_until(lock, std::move(token), later(time), std::move(condition));
  }

 private:
  using waiter = detail::parked_in_line<>;

  template <class Rep, class Period>
  static std::chrono::steady_clock::time_point later(std::chrono::duration<Rep, Period> const& time) {
    return std::chrono::steady_clock::time_point{std::chrono::nanoseconds{detail::until(time)}};
  }
  template <class Lock>
  detail::wait_end wait_once(Lock& lock, std::int64_t end, std::stop_token const& token) {
    detail::wait_end now{};
    {
      waiter w;
      detail::line const of{this, &leave, {"a condition variable"}};
      detail::may_leave const leaves{of, w, end, token};
      if ((now = enter(w)) == detail::wait_end::none) {
        try {
          lock.unlock();
        } catch (...) {  // it was not locked
          detail::leave_now(of, w, w.notified);
          throw;
        }
        detail::unlocked<Lock> const meanwhile{lock};
        now = wait_unlocked(of, w, end);
      }
    }
    if (now == detail::wait_end::stopped && !token.stop_requested()) detail::throw_stopped({"a condition variable"});
    return now;
  }
  detail::wait_end enter(waiter& w) noexcept;
  static detail::wait_end wait_unlocked(detail::line const& of, waiter& w, std::int64_t end);

  static void leave(void* me, detail::queued_waiter<>& w, detail::wait_end why) noexcept;

  /// Its waiters may be told to leave when it is gone: after notify_all() it may be destroyed. So its lock is one of
  /// some that all share.
  detail::spin_lock<>& lock() const noexcept;

  detail::waiter_queue<> line_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/condition_variable.ipp"
#endif
