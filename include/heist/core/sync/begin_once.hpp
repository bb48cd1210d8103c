// Which of two entries in queues begins a task.
#pragma once

#include <atomic>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edges (README.md, "Two entries")
//   E1  begins: started_.exchange(release) -> begins: started_.exchange(acquire)  what the first entry's taker knew

/// A task stands in a queue. A handle may have a second entry stand for it in another; whichever is taken first begins
/// it. Each entry owns a share of the task.
///
/// Threads  begins(): the taker of an entry; raise(): any thread with a handle.
/// Cost     begins(): an exchange; a load where no handle is left.
/// Promises of two entries one begins the task.
template <class Env = os_env>
class begin_once {
 public:
  /// `alone`: the caller's share is the last, and it has seen the effects of the earlier owners.
  bool begins(bool alone) noexcept {
    if (alone && !flag_.load(std::memory_order_relaxed)) return true;  // relaxed: the last share is seen after it
    return !started_.exchange(true, std::memory_order_acq_rel);        // E1
  }
  /// Is a second entry to be made? Once at most, and not when the task is seen to have begun.
  bool raise() noexcept {
    // relaxed: the second entry's queue publishes it
    return !started_.load(std::memory_order_relaxed) && !flag_.exchange(true, std::memory_order_relaxed);
  }

 private:
  typename Env::template atomic<bool> started_{false};
  typename Env::template atomic<bool> flag_{false};
};

}  // namespace heist::detail
