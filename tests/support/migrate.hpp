// Makes the calling task go on on another thread, every time.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "heist/core/base/config.hpp"

namespace heist_test {

/// Sleeps after a while: threads that only yield take the processors from the one they wait for.
inline void wait_until(std::atomic<bool> const& flag) {
  for (int looks = 0; !flag.load(); ++looks) {
    if (looks < 100) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
  }
}

/// Parks the calling task of an executor of two workers, which runs nothing else, and returns on the other worker.
/// `meanwhile()` runs on the worker that was left, between the two.
///
/// One task holds the other worker until the caller has parked. Then only the caller's worker can take a second task,
/// which holds this worker until the caller goes on. So only the other worker can continue the caller.
template <class Context>
HEIST_NOINLINE void move_remote(
    Context ctx, void (*meanwhile)() = [] {}) {
  struct meet_point {
    std::atomic<bool> other_held{false}, mine_held{false}, moved{false};
  };
  auto const m = std::make_shared<meet_point>();
  auto const other = ctx.submit([m] {
    m->other_held = true;
    wait_until(m->mine_held);
  });
  wait_until(m->other_held);
  auto const mine = ctx.submit([m, meanwhile] {
    meanwhile();
    m->mine_held = true;
    wait_until(m->moved);
  });
  other.wait();
  m->moved = true;
}

}  // namespace heist_test
