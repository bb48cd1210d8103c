// model::env: the environment under which shipped protocols run in the model; the same names as heist::os_env.
#pragma once

#include <cstdint>

#include "atomic.hpp"
#include "memory.hpp"
#include "plain.hpp"

namespace model {

struct env {
  template <class T>
  using atomic = model::atomic<T>;
  template <class T>
  using plain = model::plain<T>;
  using park_word = model::park_word;
  /// Where threads wake orders nothing.
  struct sleeper_place {
    void before_sleep(int) noexcept {}
    void wakes(std::int64_t, bool) noexcept {}
    bool after_sleep(std::int64_t) noexcept { return false; }
  };
  static int thread_number() noexcept { return 0; }
  static std::int64_t nanoseconds() noexcept { return 0; }

  using index = std::int64_t;
  static constexpr unsigned epoch_bits = 27;

  static void fence(order o) noexcept {
    mem.fence(o);
    sched.forget_frames();
  }
  static void light_fence() noexcept {
    mem.light_fence();
    sched.forget_frames();
  }
  static void heavy_fence() noexcept {
    mem.heavy_fence();
    sched.forget_frames();
  }
  static bool fences_all_threads() noexcept { return true; }
  static void free_fence() noexcept { light_fence(); }
  static void relax() noexcept {
    mem.forget_stale();
    sched.yield();
    sched.forget_frames();
  }
  static void yield() noexcept { relax(); }
  static void prepare() noexcept {}
  static std::uint32_t process() noexcept { return 1; }

  /// For loops of a harness that only read: as relax(), but the next round comes when another thread has written. So a
  /// search need not bound the rounds of such a loop, and is fair to the other threads.
  static void read_again() noexcept {
    sched.read_again(mem.forget_stale());
    sched.forget_frames();
  }
  static void spin(std::uint32_t) noexcept { read_again(); }
};

/// As on a kernel that refuses membarrier: both kinds of fence are full ones.
struct symmetric_env : env {
  static void light_fence() noexcept { mem.fence(order::seq_cst); }
  static void heavy_fence() noexcept { mem.fence(order::seq_cst); }
  static bool fences_all_threads() noexcept { return false; }
  static void free_fence() noexcept {}
};

/// Indices that wrap within a test.
struct narrow_env : env {
  using index = std::int8_t;
};

}  // namespace model
