// Where a thread that sleeps wakes up: not behind the thread that wakes it.
#pragma once

#include <sched.h>  // cpu_set_t

#include <cstdint>

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// A kernel may queue a thread that wakes on the processor of the thread that wakes it, though others are idle. Linux does so in
/// a virtual machine: it takes an idle processor for one that the host has taken away. The thread then begins when its waker
/// sleeps, or some milliseconds later. A sleeper notices that. Its waker can take its own processor away from it; the sleeper
/// gives it back to itself when it is awake, before it does anything else. So one thread at a time changes the set.
///
/// Threads  before_sleep() and after_sleep() by the sleeper; wakes() by its one waker in between, before it lets it go on.
/// Cost     some nanoseconds; with `keep_off` four system calls
class sleeper_place {
 public:
  /// `thread`: its number in the system.
  HEIST_RARE void before_sleep(int thread) noexcept;
  /// `now`: in ns. `keep_off`: it is not to wake on the caller's processor, if it may use another one.
  HEIST_RARE void wakes(std::int64_t now, bool keep_off) noexcept;
  /// Has it woken late, and on its waker's processor?
  HEIST_RARE bool after_sleep(std::int64_t now) noexcept;

 private:
  void keep_off(int processor) noexcept;
  void restore() noexcept;

  int thread_ = 0;
  int waker_ = -1;          ///< the processor of its waker
  std::int64_t since_ = 0;  ///< when it was woken
  bool is_kept_off_ = false;
  cpu_set_t before_;  ///< its processors
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/base/wake_place.ipp"
#endif
