// Attention: how a worker that is busy learns that something waits (README.md, "Requests").
#pragma once

#include <atomic>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edges (proof: README.md, "Requests"; numbers as there)
//   A1  raise: after a push and a fence(seq_cst)      <-> lower_unless: fence(seq_cst)   the worker sees the entry
//                                                         pushed, or the pusher sees that the flag is down
//   A2  ask_if_set: fence(seq_cst)                 <-> raise_and_ask: fence(seq_cst), then asks the worker's fiber
//                                                         the worker sees the flag, or is asked on its new fiber

/// A flag of one worker: there may be something that it should look at.
///
/// Threads  raise() by any thread, the rest by the worker.
/// Cost     raised: one load of a line that changes when the worker has nothing to do, or requests wait.
template <class Env = os_env>
class notification_flag {
 public:
  /// To be asked when a task has ended, and where forks are slow.
  bool is_set() const noexcept { return flag_.load(std::memory_order_relaxed); }  // relaxed: A1

  /// To be called after the change that the worker is to see, and a full fence.
  void raise() noexcept {
    // relaxed: A1. Written only if it changes something.
    if (!is_set()) flag_.store(true, std::memory_order_relaxed);
  }

  /// Lowers it unless `something_waits()`. True if it is down.
  template <class Look>
  bool lower_unless(Look&& something_waits) noexcept {
    if (something_waits()) return false;
    flag_.store(false, std::memory_order_relaxed);  // relaxed: the fence orders it (A1)
    Env::fence(std::memory_order_seq_cst);          // A1
    if (!something_waits()) return true;
    flag_.store(true, std::memory_order_relaxed);  // relaxed: read by the worker itself, or as in raise()
    return false;
  }

  /// raise(), then `ask()`, which makes forks on the worker's fiber slow. The fence between them is half of A2.
  template <class Ask>
  void raise_and_ask(Ask&& ask) noexcept {
    raise();
    Env::fence(std::memory_order_seq_cst);  // A2
    ask();
  }
  /// The worker has said which fiber it is on now, which may not have been asked yet.
  template <class Ask>
  void ask_if_set(Ask&& ask) noexcept {
    Env::fence(std::memory_order_seq_cst);  // A2
    if (is_set()) ask();
  }

 private:
  typename Env::template atomic<bool> flag_{false};
};

}  // namespace heist::detail
