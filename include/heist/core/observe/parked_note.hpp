// A parked task and the reason of its wait, for executor::state_text and HEIST_WATCHDOG.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/observe/observer.hpp"
#include "heist/core/observe/outside_waits.hpp"

namespace heist::detail {

/// The reason for which a task or thread waits.
struct wait_reason {
  char const* what = "the tasks that it has forked";
  char const* name = nullptr;  ///< of that; read by the call that is handed the reason, and not later
  /// Of a lock: an address on the stack of its owner, but for its two lowest bits. The word stays as long as a task or
  /// thread waits.
  os_env::atomic<std::uintptr_t> const* owner = nullptr;
  /// Of a semaphore: its permits, and how many of them may be missing without end while the wait still ends.
  void const* permits = nullptr;
  std::uint32_t spare = 0;
};

/// A copy of the first bytes of a name, which may soon be gone.
struct noted_name {
  static constexpr std::size_t length = 48;
  char text[length]{};
  void copy(char const* from) noexcept;
};

/// A wait by addresses, which name and are not followed: of the waiter, and of the awaited thing. Null: not known.
struct parked_edge {
  void const* from = nullptr;
  void const* to = nullptr;
  outside_note const* limits = nullptr;  ///< the permits of the task that waits. They stay until the wait ends.
};

/// Written by the fiber that parks, read by any thread.
class parked_note {
 public:
  void begin(task_kind kind, char const* name, wait_reason const& why, parked_edge const& edge = {}) noexcept;
  void end() noexcept;

  bool waits() const noexcept { return what_.load(std::memory_order_relaxed) != nullptr; }  // relaxed: for people

  /// The reason of the wait. To be called by the waiting fiber only.
  wait_view view() const noexcept {
    char const* const what = what_.load(std::memory_order_relaxed);  // relaxed: its own
    return {what, awaited_.text[0] != 0 ? awaited_.text : nullptr};
  }
  /// Empty if it does not wait.
  std::string text() const;
  /// When it began to wait (os_env::coarse_nanoseconds).
  std::int64_t since() const noexcept { return since_.load(std::memory_order_relaxed); }  // relaxed: for people

  wait_look look() const noexcept;
  /// An address on the stack of the owner of the lock that it waits for. 0: it waits for no lock, the lock has no such
  /// owner, or the owner does not run yet, and may be the waiter itself.
  std::uintptr_t owner() const noexcept {
    spin_guard guard{lock_};
    return owner_now();
  }

 private:
  std::uintptr_t owner_now() const noexcept {
    constexpr std::uintptr_t is_handed = 2, marks = 3;                                            // as owned_lock's
    std::uintptr_t const word = owner_ == nullptr ? 0 : owner_->load(std::memory_order_relaxed);  // relaxed: for people
    return (word & is_handed) != 0 ? 0 : word & ~marks;
  }

  os_env::atomic<char const*> what_{nullptr};
  os_env::atomic<task_kind> kind_{task_kind::other};
  os_env::atomic<std::uint32_t> wait_{0};  ///< odd while it waits
  os_env::atomic<void const*> from_{nullptr}, to_{nullptr};
  bool more_ = false;  ///< the fields that the lock guards have been changed
  os_env::atomic<std::int64_t> since_{0};
  mutable spin_lock<> lock_;  // guards the rest
  noted_name task_, awaited_;
  os_env::atomic<std::uintptr_t> const* owner_ = nullptr;
  outside_note const* limits_ = nullptr;
  bool for_permits_ = false;
  std::uint32_t cached_ = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/observe/parked_note.ipp"
#endif
