// A squad's pool of inter-squad tasks, and whether the squad is busy with one (CAB, section III; CATS, section 3.3).
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

// Edges (README.md, "Inter-squad pool")
//   E1  push: lock_ released              -> take, steal: lock_ acquired      the node
//   E2  release: busy_.store(release)     -> set_busy's owner: busy_.load(acquire)   what the subtree has done
// The worker that adds a node, or releases the squad, fences fully before it asks which heads sleep; a head fences
// between the announcement that it will sleep and its last look.

/// `Node` has the members `older` and `newer`, Node pointers that belong to the pool while the node is in it.
///
/// Threads  push and steal, and the questions: any worker. take(): the squad's head worker. release(): the worker that
///          ends the task that made the squad busy.
/// Cost     a lock held for some instructions: there are some few inter-squad tasks for each squad.
/// Promises a node pushed is taken once.
template <class Node, class Env = os_env>
class inter_pool {
  template <class T>
  using atomic = typename Env::template atomic<T>;

 public:
  /// Adds a task that any squad may run.
  void push(Node& node) noexcept { add(open_, open_count_, node); }
  /// Adds one that belongs here: other squads take it only when they find nothing else for a while.
  void push_pinned(Node& node) noexcept { add(pinned_, pinned_count_, node); }

  /// For the squad's head: a task that belongs here, oldest first; otherwise the youngest. Null if there is nothing.
  Node* take() noexcept {
    if (maybe_empty() && !maybe_pinned()) return nullptr;
    spin_guard guard{lock_};
    Node* const node = remove(pinned_, pinned_count_, &list::oldest);
    return node != nullptr ? node : remove(open_, open_count_, &list::newest);
  }
  /// For other squads' heads: the oldest.
  Node* steal() noexcept {
    if (maybe_empty()) return nullptr;
    spin_guard guard{lock_};
    return remove(open_, open_count_, &list::oldest);
  }
  /// The same for a task that belongs here.
  Node* steal_pinned() noexcept {
    if (!maybe_pinned()) return nullptr;
    spin_guard guard{lock_};
    return remove(pinned_, pinned_count_, &list::oldest);
  }

  /// The paper's busy_state: is there an inter-squad task running in the squad?
  bool busy() const noexcept { return busy_.load(std::memory_order_acquire); }  // acquire: E2
  /// The squad's head has taken an inter-squad task.
  void set_busy() noexcept { busy_.store(true, std::memory_order_relaxed); }  // relaxed: only the head asks and sets
  /// The task has ended with all of its subtree, or waits for inter-squad children.
  void release() noexcept { busy_.store(false, std::memory_order_release); }  // release: E2

  // Hints: exact only after a fence that pairs with the pusher's.
  bool maybe_empty() const noexcept { return open_count_.load(std::memory_order_relaxed) == 0; }     // relaxed: a hint
  bool maybe_pinned() const noexcept { return pinned_count_.load(std::memory_order_relaxed) != 0; }  // relaxed: a hint

 private:
  struct list {
    Node* oldest = nullptr;
    Node* newest = nullptr;
  };
  using count = atomic<std::uint32_t>;

  void add(list& to, count& n, Node& node) noexcept {
    spin_guard guard{lock_};
    HEIST_ASSERT(node.older == nullptr && node.newer == nullptr && to.oldest != &node,
                 "a node is pushed that is in a pool");
    node.older = to.newest;
    (to.newest == nullptr ? to.oldest : to.newest->newer) = &node;
    to.newest = &node;
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: under the lock
  }
  /// The oldest or the youngest, if there is any.
  Node* remove(list& from, count& n, Node* list::*end) noexcept {
    Node* const node = from.*end;
    if (node == nullptr) return nullptr;
    (node->older == nullptr ? from.oldest : node->older->newer) = node->newer;
    (node->newer == nullptr ? from.newest : node->newer->older) = node->older;
    node->older = node->newer = nullptr;
    n.store(n.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);  // relaxed: under the lock
    return node;
  }

  alignas(cache_line_size) spin_lock<Env> lock_;
  list open_, pinned_;
  count open_count_{0}, pinned_count_{0};
  alignas(cache_line_size) atomic<bool> busy_{false};
};

}  // namespace heist::detail
