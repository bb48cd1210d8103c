// Mutexes for tasks, threads and coroutines: a task that must wait parks, a thread blocks, a coroutine suspends.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>  // unique_lock, adopt_lock

#include "heist/core/base/config.hpp"
#include "heist/core/sync/owned_lock.hpp"
#include "heist/parallel/primitives/awaiting.hpp"
#include "heist/parallel/primitives/lock_owner.hpp"
#include "heist/parallel/primitives/waiting.hpp"

namespace heist {

namespace detail {

// A base class that the reference shows.
/// Common base of the mutexes.
class mutex_base {
 public:
  mutex_base(mutex_base const&) = delete;
  mutex_base& operator=(mutex_base const&) = delete;

  /// An address on the owner's stack, or `owned_by_coroutine`; 0: it is free. A snapshot.
  std::uintptr_t owner() const noexcept { return lock_.owner(); }
  char const* name() const noexcept { return name_; }

 protected:
  using waiter = parked_in_line<lock_waiter<>>;

  explicit constexpr mutex_base(char const* name) noexcept : name_{name} {}
  ~mutex_base() {
    if (lock_.has_waiter()) [[unlikely]]
      reject_destruction();
  }

  void acquire() {
    if (!lock_.try_acquire(this_owner())) static_cast<void>(wait(never));
  }
  bool try_acquire() noexcept { return lock_.try_acquire(this_owner()); }
  void release() noexcept {
    std::uintptr_t const seen = lock_.owner();
    // Few bytes away is the same stack. release_slow_path() looks more closely.
    if (HEIST_LIKELY(stack_address() - seen + 4096 < 8192) && HEIST_LIKELY(lock_.try_release(seen))) return;
    release_slow_path(seen);
  }
  /// False: it is late.
  bool wait(std::int64_t end);

  static void leave(void* me, queued_waiter<>& w, wait_end why) noexcept;
  line in_line() noexcept { return {this, &leave, {"a mutex", name_, &lock_.word()}}; }

  owned_lock<> lock_;

 private:
  HEIST_RARE void release_slow_path(std::uintptr_t seen) noexcept;
  [[noreturn]] HEIST_RARE void reject_destruction() const noexcept;

  char const* const name_;

#if HEIST_COROUTINES
 protected:
  /// co_await of it. The lock is handed over in turn: a coroutine does not compete.
  template <class Mutex>
  class awaiter : line_awaiter<lock_waiter<>> {
   public:
    explicit awaiter(Mutex& m) noexcept : line_awaiter{owned_by_coroutine, true}, mutex_{m} {}
    bool await_ready() const noexcept { return mutex_.lock_.try_acquire(owned_by_coroutine); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
      mutex_base& m = mutex_;
      return suspend_in_line(h, m.in_line(), [&] { return m.lock_.acquire_or_enter(waiter_); });
    }
    std::unique_lock<Mutex> await_resume() {
      resume("a mutex");
      return std::unique_lock<Mutex>{mutex_, std::adopt_lock};
    }

   private:
    Mutex& mutex_;
  };
#endif
};

}  // namespace detail

/// As std::mutex, for tasks, threads of the program's own and coroutines at once, of any executors. The owner may
/// wait, fork and submit. A task that must wait parks: its worker runs other tasks.
///
/// Order    waiters are served in turn, but for a bounded bypass. While the first one wakes up, newcomers may lock it
///          16 times. Then it is handed over.
/// Stops    a stop of the waiting task ends lock() with stopped_error. A task that an exception leaves waits on.
/// Errors   lock() throws std::system_error (resource_deadlock_would_occur) in a task that has locked it. It throws
///          stack_error or bad_alloc where a task cannot park. unlock() by another task ends the program with a
///          sentence. The destruction of a mutex that has waiters does so, too.
/// Cost     lock and unlock: an exchange each.
/// Promises a task unlocks the mutexes that it has locked, wherever it resumes. A coroutine that holds it over a
///          co_await takes it by lock_async(). Under join::leapfrog do not hold it over a fork: a join may run a task
///          on top of the owner. That task would wait for the owner below it. Code on a stack that is not heist's
///          unlocks its mutexes before the task goes on.
class mutex : public detail::mutex_base {
 public:
  constexpr mutex() noexcept : mutex{nullptr} {}
  /// `name`: what state_text() and HEIST_WATCHDOG call it. It lives as long as the mutex.
  constexpr explicit mutex(char const* name) noexcept : mutex_base{name} {}

  void lock() { acquire(); }
  [[nodiscard]] bool try_lock() noexcept { return try_acquire(); }
  void unlock() noexcept { release(); }
#if HEIST_COROUTINES
  /// co_await: a std::unique_lock<heist::mutex> that has it. A coroutine resumes on the executor that it runs on; on
  /// none it blocks its thread.
  [[nodiscard]] auto lock_async() noexcept {
    return awaiter<mutex>{*this};
  }
#endif
};

/// As heist::mutex, and with time limits. The first of them makes one thread for all (core's timers).
class timed_mutex : public detail::mutex_base {
 public:
  constexpr timed_mutex() noexcept : timed_mutex{nullptr} {}
  constexpr explicit timed_mutex(char const* name) noexcept : mutex_base{name} {}

  void lock() { acquire(); }
  [[nodiscard]] bool try_lock() noexcept { return try_acquire(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return try_acquire() || wait(detail::until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& when) {
    return try_acquire() || detail::wait_until_late(when, [this](std::int64_t end) { return wait(end); });
  }
  void unlock() noexcept { release(); }
#if HEIST_COROUTINES
  [[nodiscard]] auto lock_async() noexcept {
    return awaiter<timed_mutex>{*this};
  }
#endif
};

/// As heist::mutex; the task or thread that has it may lock it again, and unlocks it as often. A child that the
/// owner forks may run on the same stack, and would count as the owner. Do not let it lock the mutex.
class recursive_mutex : public detail::mutex_base {
 public:
  constexpr recursive_mutex() noexcept : recursive_mutex{nullptr} {}
  constexpr explicit recursive_mutex(char const* name) noexcept : mutex_base{name} {}

  void lock() {
    if (again()) return;
    acquire();
    note_owner();
  }
  [[nodiscard]] bool try_lock() {
    if (again()) return true;
    if (!try_acquire()) return false;
    note_owner();
    return true;
  }
  void unlock() noexcept;

 private:
  bool again();
  bool is_mine() const noexcept;
  void note_owner() noexcept;

  unsigned times_ = 0;                        ///< locked again; of the owner
  os_env::atomic<std::uintptr_t> thread_{0};  ///< the owner, if that is a thread outside
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/mutex.ipp"
#endif
