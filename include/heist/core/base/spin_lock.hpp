// A lock for a few instructions on paths that are seldom taken.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edge
//   E1  unlock: holder_.store(release) -> lock, try_lock: holder_.CAS(acquire)   the effects under the lock

/// Spins, then yields. Never held across anything that may wait, throw or call user code: a thread of high priority
/// that spins on its own core would keep the holder from running for ever.
///
/// In a child of fork() a lock that some thread of the parent held counts as free, since it would never be released.
/// The data that it guards may then be half changed.
template <class Env = os_env>
class spin_lock {
 public:
  void lock() noexcept {
    for (std::uint32_t tries = 0; !try_lock(); ++tries) Env::spin(tries);
  }
  /// False if a thread has it.
  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t const us = Env::process();
    std::uint32_t holder = holder_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    // relaxed: as above
    return holder != us && holder_.compare_exchange_strong(holder, us, std::memory_order_acquire,  // E1
                                                           std::memory_order_relaxed);
  }
  void unlock() noexcept { holder_.store(0, std::memory_order_release); }  // E1

 private:
  typename Env::template atomic<std::uint32_t> holder_{0};  ///< the process of the thread that has it; 0: free
};

/// Holds a spin_lock for a block.
template <class Lock>
class spin_guard {
 public:
  explicit spin_guard(Lock& lock) noexcept : lock_{lock} { lock_.lock(); }
  spin_guard(spin_guard const&) = delete;
  spin_guard& operator=(spin_guard const&) = delete;
  ~spin_guard() { lock_.unlock(); }

 private:
  Lock& lock_;
};

}  // namespace heist::detail
