// A futex word: how a thread of heist sleeps. The platform's semaphores, condition variables and atomic waits
// have lost wakeups (GCC PR 98033, glibc BZ 25847, LLVM 109290); the kernel's own primitive has not.
#pragma once

#include <linux/futex.h>  // FUTEX_WAIT_PRIVATE, FUTEX_WAKE_PRIVATE
#include <sys/syscall.h>  // SYS_futex
#include <time.h>         // timespec
#include <unistd.h>       // syscall

#include <atomic>
#include <cerrno>   // errno, saved around the call: a park is invisible to user code
#include <climits>  // INT_MAX
#include <cstdint>

#include "heist/core/base/config.hpp"

namespace heist {

/// One 32-bit word that threads may sleep on.
///
/// Threads  everything may be called by any thread.
/// Cost     a wait or wake is one system call; load and store are plain atomics.
/// Promises wait() may return early (EINTR, a wake for an earlier user of the address): callers loop.
class park_word {
 public:
  std::uint32_t load(std::memory_order order) const noexcept { return value_.load(order); }
  void store(std::uint32_t v, std::memory_order order) noexcept { value_.store(v, order); }
  std::uint32_t exchange(std::uint32_t v, std::memory_order order) noexcept { return value_.exchange(v, order); }

  std::uint32_t fetch_add(std::uint32_t v, std::memory_order order) noexcept { return value_.fetch_add(v, order); }

  /// Strong; on failure `expected` is the word's value.
  bool compare_exchange(std::uint32_t& expected, std::uint32_t v, std::memory_order order) noexcept {
    return value_.compare_exchange_strong(expected, v, order, std::memory_order_relaxed);  // relaxed: nothing was done
  }

  /// Sleeps while the word holds `expected`, or until woken.
  void wait(std::uint32_t expected) noexcept { futex_wait(expected, nullptr); }

  /// As wait(), for at most `nanoseconds`; true if that time is over.
  bool wait_for(std::uint32_t expected, std::int64_t nanoseconds) noexcept {
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
    limit.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
    return futex_wait(expected, &limit) == ETIMEDOUT;
  }

  void wake_one() noexcept { futex_wake(1); }
  void wake_all() noexcept { futex_wake(INT_MAX); }

 private:
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
                "heist: the kernel reads the word as 32 plain bits");

  // Never inlined: the address of errno is declared constant, and a frame that calls these may move to another thread.
  HEIST_NOINLINE int futex_wait(std::uint32_t expected, timespec const* limit) noexcept {
    int const saved = errno;
    bool const notified = ::syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0) == 0;
    int const why = notified ? 0 : errno;
    errno = saved;
    return why;
  }
  HEIST_NOINLINE void futex_wake(int count) noexcept {
    int const saved = errno;
    // The address may already be another object's: the waiter may leave as soon as it reads the new value.
    // The kernel then finds no thread, or wakes one early, which wait() allows.
    ::syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
    errno = saved;
  }

  std::atomic<std::uint32_t> value_{0};
};

}  // namespace heist
