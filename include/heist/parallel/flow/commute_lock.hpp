// Access to a datum in any order, one at a time: tasks that must wait stand in line instead of blocking their worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edges (README.md, "Flows")
//   E1  give_back: state_.CAS(release), or the hand-over  -> take: state_.CAS(acquire)   what was done under it
//   E2  take: state_.CAS(release) -> give_back: state_.exchange(acquire)                 the node and its owner's state

/// Owned by one task at a time. A task that finds it owned leaves a node, linked by its member `next`, and gets the
/// lock later.
///
/// Threads  take() by any thread; give_back() by the owner.
/// Cost     one compare-and-swap each if no task waits.
/// Promises the owner hands over to each node once, to the waiting node that came first. Nodes that come during the
///          hand-over wait for the next one.
template <class Node, class Env = os_env>
class commute_lock {
 public:
  /// True: the caller owns it. False: `node` waits; the owner it will get it from may already have handed it over.
  [[nodiscard]] bool take(Node& node) noexcept {
    std::uintptr_t now = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (;;) {
      if (now == free) {
        if (state_.compare_exchange_weak(now, owned, std::memory_order_acquire,  // E1
                                         std::memory_order_relaxed)) {           // relaxed: as above
          node.next = nullptr;                                                   // of an attempt before
          return true;
        }
      } else {
        node.next = now == owned ? nullptr : reinterpret_cast<Node*>(now);
        if (state_.compare_exchange_weak(now, reinterpret_cast<std::uintptr_t>(&node), std::memory_order_release,  // E2
                                         std::memory_order_relaxed))  // relaxed: as above
          return false;
      }
      Env::relax();
    }
  }

  /// The one that owns it now instead of the caller, or null.
  [[nodiscard]] Node* give_back() noexcept {
    if (line_ == nullptr) {
      std::uintptr_t expected = owned;
      if (state_.compare_exchange_strong(expected, free, std::memory_order_release,  // E1
                                         std::memory_order_relaxed))                 // relaxed: taken below
        return nullptr;
      // The youngest first: turned round.
      auto* node = reinterpret_cast<Node*>(state_.exchange(owned, std::memory_order_acquire));  // E2
      while (node != nullptr) {
        Node* const older = std::exchange(node->next, static_cast<Node*>(line_));
        line_ = node;
        node = older;
      }
    }
    Node* const first = line_;
    line_ = static_cast<Node*>(std::exchange(first->next, nullptr));
    return first;
  }

 private:
  static constexpr std::uintptr_t free = 0, owned = 1;  ///< anything else: the youngest node that waits

  typename Env::template atomic<std::uintptr_t> state_{free};
  typename Env::template plain<Node*> line_{nullptr};  ///< the oldest first; the owner's
};

}  // namespace heist::detail
