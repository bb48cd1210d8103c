// Master queue: a list that anybody pushes to, and of which who takes takes everything.
#pragma once

#include <atomic>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"

namespace heist {

// Edge (README.md, "Master queue")
//   E1  push: head_.CAS(release) -> take_all: head_.exchange(acquire)   the node and everything done before the push

/// A list of nodes linked through their member `next`, a `Node*` that belongs to the queue while the node is in it.
///
/// Threads  every member may be called by any thread.
/// Cost     push: one compare-and-swap, more under contention. take_all: one exchange. No allocation.
/// Promises a node pushed is taken exactly once. Nobody pops single nodes, so there is no ABA problem.
template <class Node, class Env = os_env>
class master_queue {
 public:
  void push(Node& node) noexcept { push_list(node, node); }

  /// Adds a list that the caller has linked, `first` to `last`, at once.
  void push_list(Node& first, Node& last) noexcept {
    Node* head = head_.load(std::memory_order_relaxed);  // relaxed: the exchange below decides
    do {
      last.next = head;
      // release: E1; relaxed: nothing is read through a head that lost
    } while (!head_.compare_exchange_weak(head, &first, std::memory_order_release, std::memory_order_relaxed));
  }

  /// Everything pushed so far, youngest first, linked by `next`; null if empty.
  Node* take_all() noexcept {
    if (maybe_empty()) return nullptr;
    return head_.exchange(nullptr, std::memory_order_acquire);  // E1
  }

  /// A hint: exact only after a fence that pairs with one of the pusher's.
  bool maybe_empty() const noexcept {
    return head_.load(std::memory_order_relaxed) == nullptr;  // relaxed: a hint
  }

 private:
  alignas(cache_line_size) typename Env::template atomic<Node*> head_{nullptr};
};

}  // namespace heist
