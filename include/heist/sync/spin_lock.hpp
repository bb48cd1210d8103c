// A lock for a few instructions on paths that are seldom taken.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/base/env.hpp"

namespace heist {

/// Spins, then yields. Never held across anything that may wait, throw or call user code.
template <class Env = os_env>
class spin_lock {
 public:
  void lock() noexcept {
    for (std::uint32_t tries = 0;; ++tries) {
      // acquire: pairs with unlock()
      if (!held_.load(std::memory_order_relaxed) &&  // relaxed: only saves an exchange
          !held_.exchange(true, std::memory_order_acquire)) {
        return;
      }
      if (tries % 64 == 63) {
        Env::yield();
      } else {
        Env::relax();
      }
    }
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }  // release: pairs with lock()

 private:
  typename Env::template atomic<bool> held_{false};
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

}  // namespace heist
