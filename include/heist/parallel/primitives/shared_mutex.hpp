// A mutex for readers together and writers alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>         // unique_lock, adopt_lock
#include <shared_mutex>  // shared_lock

#include "heist/core/base/config.hpp"
#include "heist/core/sync/reader_writer_lock.hpp"
#include "heist/parallel/primitives/awaiting.hpp"
#include "heist/parallel/primitives/lock_owner.hpp"
#include "heist/parallel/primitives/waiting.hpp"

namespace heist {

/// As std::shared_timed_mutex, for tasks, threads and coroutines at once.
///
/// Order    waiters are served in turn, readers that stand side by side together, but for a bounded bypass. Newcomers
///          may lock it 64 times before the first that waits, and as often again while a writer wakes up. So each wait
///          ends. A reader may wait behind a waiting writer.
/// Stops    as heist::mutex.
/// Errors   lock() and lock_shared() throw std::system_error (resource_deadlock_would_occur) in a task that writes.
///          They throw as those of heist::mutex where a task cannot park. Unlocking it when it is not locked, or by a
///          task that is not the writer, ends the program with a sentence. Destroying it while it has waiters does so,
///          too.
/// Cost     each call a spin_lock and a few instructions.
/// Promises as heist::mutex. A task that reads does not lock it again: it could wait for itself, and is not told.
class shared_mutex {
 public:
  shared_mutex() noexcept = default;
  /// `name`: what state_text() and HEIST_WATCHDOG call it. It lives as long as the mutex.
  explicit shared_mutex(char const* name) noexcept : name_{name} {}
  shared_mutex(shared_mutex const&) = delete;
  shared_mutex& operator=(shared_mutex const&) = delete;
  ~shared_mutex();

  void lock() { static_cast<void>(try_lock() || wait(detail::this_owner(), detail::never)); }
  [[nodiscard]] bool try_lock() noexcept { return lock_.try_acquire(detail::this_owner()); }
  void unlock() noexcept;
  void lock_shared() { static_cast<void>(try_lock_shared() || wait(reads, detail::never)); }
  [[nodiscard]] bool try_lock_shared() noexcept { return lock_.try_acquire(reads); }
  void unlock_shared() noexcept;

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return try_lock() || wait(detail::this_owner(), detail::until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& when) {
    return try_lock() || wait_until(detail::this_owner(), when);
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> const& time) {
    return try_lock_shared() || wait(reads, detail::until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> const& when) {
    return try_lock_shared() || wait_until(reads, when);
  }
#if HEIST_COROUTINES
  /// co_await: a std::unique_lock, or a std::shared_lock, that has it.
  [[nodiscard]] auto lock_async() noexcept {
    return awaiter<std::unique_lock<shared_mutex>>{*this, detail::owned_by_coroutine};
  }
  [[nodiscard]] auto lock_shared_async() noexcept {
    return awaiter<std::shared_lock<shared_mutex>>{*this, reads};
  }
#endif

 private:
  static constexpr std::uintptr_t reads = detail::reader_writer_lock<>::reader;
  using waiter = detail::parked_in_line<detail::lock_waiter<>>;

  template <class Clock, class Duration>
  bool wait_until(std::uintptr_t id, std::chrono::time_point<Clock, Duration> const& when) {
    return detail::wait_until_late(when, [&](std::int64_t end) { return wait(id, end); });
  }
  bool wait(std::uintptr_t id, std::int64_t end);
  detail::line in_line() noexcept {
    return {this, &leave, {"a shared mutex", name_, &lock_.word()}};
  }
  static void leave(void* me, detail::queued_waiter<>& w, detail::wait_end why) noexcept;

  detail::reader_writer_lock<> lock_;
  char const* const name_ = nullptr;

#if HEIST_COROUTINES
  template <class Lock>
  class awaiter : detail::line_awaiter<detail::lock_waiter<>> {
   public:
    awaiter(shared_mutex& m, std::uintptr_t id) noexcept : line_awaiter{id, true}, mutex_{m} {}
    bool await_ready() const noexcept { return mutex_.lock_.try_acquire(waiter_.owner); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
      return suspend_in_line(h, mutex_.in_line(), [this] { return mutex_.lock_.acquire_or_enter(waiter_); });
    }
    Lock await_resume() {
      resume("a shared mutex");
      return Lock{mutex_, std::adopt_lock};
    }

   private:
    shared_mutex& mutex_;
  };
#endif
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/shared_mutex.ipp"
#endif
