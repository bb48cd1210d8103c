// A mutex for readers together and writers alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>         // unique_lock, adopt_lock
#include <shared_mutex>  // shared_lock

#include "heist/base/config.hpp"
#include "heist/primitives/awaiting.hpp"
#include "heist/primitives/waiting.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist {

/// As std::shared_timed_mutex, for tasks, threads and coroutines at once.
///
/// Order   first come, first served, and readers that stand side by side go in together. So a reader waits behind a writer
///         that waits, and nobody waits for ever.
/// Stops   as heist::mutex.
/// Errors  unlocking it when it is not locked ends the program with a sentence. So does destroying it while it has waiters.
/// Cost    each call a spin_lock and a few instructions.
class shared_mutex {
 public:
  shared_mutex() noexcept = default;
  explicit shared_mutex(char const* name) noexcept : name_{name} {}
  shared_mutex(shared_mutex const&) = delete;
  shared_mutex& operator=(shared_mutex const&) = delete;
  ~shared_mutex();

  void lock() { static_cast<void>(try_acquire(writes) || wait(writes, detail::never)); }
  [[nodiscard]] bool try_lock() noexcept { return try_acquire(writes); }
  void unlock() noexcept;
  void lock_shared() { static_cast<void>(try_acquire(reads) || wait(reads, detail::never)); }
  [[nodiscard]] bool try_lock_shared() noexcept { return try_acquire(reads); }
  void unlock_shared() noexcept;

  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& time) {
    return try_acquire(writes) || wait(writes, detail::until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& when) {
    return try_until(writes, when);
  }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(std::chrono::duration<Rep, Period> const& time) {
    return try_acquire(reads) || wait(reads, detail::until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> const& when) {
    return try_until(reads, when);
  }
#if HEIST_COROUTINES
  /// co_await: a std::unique_lock, or a std::shared_lock, that has it.
  [[nodiscard]] auto lock_async() noexcept {
    return awaiter<std::unique_lock<shared_mutex>>{*this, writes};
  }
  [[nodiscard]] auto lock_shared_async() noexcept {
    return awaiter<std::shared_lock<shared_mutex>>{*this, reads};
  }
#endif

 private:
  /// What a waiter wants.
  static constexpr std::uint32_t reads = 1, writes = 2;
  using waiter = detail::parked_in_line<>;

  template <class Clock, class Duration>
  bool try_until(std::uint32_t how, std::chrono::time_point<Clock, Duration> const& when) {
    return try_acquire(how) || detail::wait_until_late(when, [&](std::int64_t end) { return wait(how, end); });
  }
  bool try_acquire(std::uint32_t how) noexcept;
  bool wait(std::uint32_t how, std::int64_t end);
  detail::wait_end acquire_or_enter(waiter& w) noexcept;
  detail::line in_line() noexcept {
    return {this, &leave, {"a shared mutex", name_}};
  }
  static void leave(void* me, detail::queued_waiter<>& w, detail::wait_end why) noexcept;
  // Under the lock:
  bool take(std::uint32_t how) noexcept;
  void serve(detail::woken_list<>& woken) noexcept;

  spin_lock<> lock_;
  bool written_ = false;
  std::uint32_t readers_ = 0;
  detail::waiter_queue<> line_;
  char const* const name_ = nullptr;

#if HEIST_COROUTINES
  template <class Lock>
  class awaiter : detail::line_awaiter<> {
   public:
    awaiter(shared_mutex& m, std::uint32_t how) noexcept : mutex_{m} { waiter_.wants = how; }
    bool await_ready() const noexcept { return mutex_.try_acquire(waiter_.wants); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
      return suspend_in_line(h, mutex_.in_line(), [this] { return mutex_.acquire_or_enter(waiter_); });
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
#include "heist/primitives/shared_mutex.ipp"
#endif
