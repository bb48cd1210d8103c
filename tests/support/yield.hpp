// Tasks that yield let other threads get ahead.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace heist_test {

/// std::this_thread::yield(), for tasks that do not wait for anything. Beside busy processes each call may take a time
/// slice or two. After a process has lost five seconds that way, it yields in one call out of 16.
inline void yield() noexcept {
  using std::chrono::steady_clock;
  static std::atomic<steady_clock::duration> lost{steady_clock::duration::zero()};
  constexpr std::chrono::seconds most{5};
  static std::atomic<unsigned> calls{0};
  auto const before = lost.load(std::memory_order_relaxed);
  if (before > most && calls.fetch_add(1, std::memory_order_relaxed) % 16 != 0) return;
  auto const start_time = steady_clock::now();
  std::this_thread::yield();
  auto const took = steady_clock::now() - start_time;
  if (took > std::chrono::milliseconds{1}) lost.store(before + took, std::memory_order_relaxed);
}

}  // namespace heist_test
