// How much of something has not ended, and a wait for its end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>  // size_t
#include <mutex>
#include <thread>  // sleep_for

#include "heist/compat/tbb/oneapi/tbb/detail/arena.hpp"
#include "heist/sync.hpp"

namespace tbb::detail {

/// May be destroyed as soon as a wait() has returned. Threads: any.
class work_count {
 public:
  /// The caller must be counted itself, or call this before wait().
  void add() noexcept { open_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller's own count is there
  void remove() {
    std::size_t n = open_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while (n > 1) {
      // acq_rel: the last one passes on what the others have done
      if (open_.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    }
    // The last one holds the lock until it is done with the count: a wait() returns under the lock, after it.
    std::lock_guard const guard{lock_};
    if (open_.fetch_sub(1, std::memory_order_acq_rel) == 1) none_.notify_all();  // acq_rel: as above
  }
  bool is_zero() const {
    std::lock_guard const guard{lock_};
    return has_ended();
  }
  /// A task parks. A thread outside works in `on`. Nothing ends the wait early: what is counted may use the caller's data.
  void wait(arena& on) {
    if (is_zero()) return;
    on.enter([this] {
      keep_task_state const kept;
      try {
        std::unique_lock guard{lock_};
        none_.wait(guard, [this] { return has_ended(); });
        return;
      } catch (heist::stopped_error const&) {  // of a task of heist's that has called the layer
      } catch (heist::error const&) {          // it has no stack left
      }
      heist::fork_join([this](heist::context here) { here.blocking([this] { sleep_until_zero(); }); });
    });
  }

 private:
  bool has_ended() const noexcept { return open_.load(std::memory_order_acquire) == 0; }  // acquire: remove()
  void sleep_until_zero() const {
    while (!is_zero()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  mutable std::mutex lock_;
  std::atomic<std::size_t> open_{0};
  heist::condition_variable_any none_;
};

}  // namespace tbb::detail
