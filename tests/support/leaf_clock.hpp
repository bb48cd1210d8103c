// A clock on which only leaves of a computation take time, for tests of code that measures tasks.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"

namespace heist_test {

/// Each thread's time; it passes only when a task on that thread says so. noinline: after a join the caller may be on
/// another thread, and must not use the address that it had before.
struct leaf_clock {
  HEIST_NOINLINE static std::uint64_t ticks() noexcept {
    asm volatile("" ::: "memory");
    return now;
  }
  HEIST_NOINLINE static void pass(std::uint64_t n) noexcept {
    asm volatile("" ::: "memory");
    now += n;
  }

 private:
  static inline thread_local std::uint64_t now = 1000;
};
inline void work(std::uint64_t n) {
  leaf_clock::pass(n);
}

}  // namespace heist_test
