// Injection queue: how work enters from outside (the paper's master queue, Algorithm 1). First come, first served.
#pragma once

#include <atomic>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist::detail {

// New nodes come to a stack; a taker that finds the line empty turns the stack into the line; each takes its first.
//
// Edges (README.md, "Injection queue")
//   E1  push: arrived_.CAS(release)  -> take: arrived_.exchange(acquire)   the node and everything done before the push
//   E2  take: taking_.store(release) -> take: taking_.exchange(acquire)    the line as the last taker left it

/// A queue of nodes that are linked through their member `next`, a `Node*`. It belongs to the queue while the node is in it,
/// and is null otherwise.
///
/// Threads  every member may be called by any thread.
/// Cost     push: one compare-and-swap, more under contention. take: one exchange, and once for each node a walk over
///          the nodes that have arrived. No allocation, no waiting.
/// Promises a node pushed is taken exactly once; of two nodes of which one was pushed before the other's push began,
///          that one is taken first.
template <class Node, class Env = os_env>
class injection_queue {
  template <class T>
  using atomic = typename Env::template atomic<T>;

 public:
  /// True if it is the first to arrive since the last were made a line: a worker may have to be told. The pushers after
  /// it can rely on that notification.
  bool push(Node& node) noexcept {
    Node* head = arrived_.load(std::memory_order_relaxed);  // relaxed: the exchange below decides
    // As far as the node can tell: the last of a line has no link either.
    HEIST_ASSERT(node.next == nullptr && head != &node, "a node is pushed that is in a queue");
    do {
      node.next = head;
      // release: E1; relaxed: nothing is read through a head that lost
    } while (!arrived_.compare_exchange_weak(head, &node, std::memory_order_release, std::memory_order_relaxed));
    return head == nullptr;
  }

  /// The oldest; null if there is none, or another thread is just taking one. `more`: nodes have come into the line
  /// that no thread could see for a moment; the caller has to tell of them as of a push. `most` > 1: up to so many of
  /// the oldest, linked, the last one's `next` being null.
  Node* take(bool& more, unsigned most = 1) noexcept {
    more = false;
    return maybe_empty() ? nullptr : take_some(more, most);
  }

  /// A hint: does the next node come from the line, without a look at new arrivals?
  bool in_line() const noexcept { return line_.load(std::memory_order_relaxed) != nullptr; }  // relaxed: a hint
  /// A hint: exact only after a fence that pairs with one of the pusher's, or of a taker's that has found `more`.
  bool maybe_empty() const noexcept {
    // relaxed: a hint
    return line_.load(std::memory_order_relaxed) == nullptr && arrived_.load(std::memory_order_relaxed) == nullptr;
  }

 private:
  /// Never inlined: each of a file's many looks would be as large.
  HEIST_NOINLINE Node* take_some(bool& more, unsigned most) noexcept {
    if (taking_.load(std::memory_order_relaxed) ||          // relaxed: only saves an exchange
        taking_.exchange(true, std::memory_order_acquire))  // E2
      return nullptr;
    Node* first = line_.load(std::memory_order_relaxed);  // relaxed: E2
    if (first == nullptr) {
      Node* node = arrived_.exchange(nullptr, std::memory_order_acquire);  // E1
      while (node != nullptr) {
        Node* const older = node->next;
        node->next = first;
        first = node;
        node = older;
      }
      more = first != nullptr && first->next != nullptr;
    }
    if (first != nullptr) {
      Node* last = first;
      for (unsigned i = 1; i != most && last->next != nullptr; ++i) last = last->next;
      line_.store(last->next, std::memory_order_relaxed);  // relaxed: E2; others take a hint
      last->next = nullptr;
    }
    taking_.store(false, std::memory_order_release);  // E2
    return first;
  }

  alignas(cache_line_size) atomic<Node*> arrived_{nullptr};  ///< youngest first
  alignas(cache_line_size) atomic<bool> taking_{false};
  atomic<Node*> line_{nullptr};  ///< oldest first; changed by the taker that has set taking_
};

}  // namespace heist::detail
