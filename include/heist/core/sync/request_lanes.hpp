// Work from outside by its urgency: a line for each.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/base/priority.hpp"
#include "heist/core/sync/injection_queue.hpp"

namespace heist::detail {

/// One injection queue for each priority, with the interface of one queue. take() asks the more urgent queue first.
/// Every 64th call asks the low queue before the normal one, so that no low request waits for ever.
///
/// Threads, Cost, Promises  as injection queue; of two nodes of one priority.
template <class Node, class Env = os_env>
class request_lanes {
 public:
  bool push(Node& node) noexcept { return normal_.push(node); }
  bool push(Node& node, priority how) noexcept {
    return (how >= priority::high ? high_ : how <= priority::low ? low_ : normal_).push(node);
  }

  Node* take(bool& more, unsigned most = 1) noexcept {
    if (!high_.maybe_empty()) [[unlikely]] {
      if (Node* const node = high_.take(more, most); node != nullptr) return node;
    }
    // relaxed: a count of turns, exact or not
    bool const turn = !low_.maybe_empty() && passed_.fetch_add(1, std::memory_order_relaxed) % turn_of_low == 0;
    if (turn) [[unlikely]] {
      if (Node* const node = low_.take(more); node != nullptr) return node;
    }
    if (Node* const node = normal_.take(more, most); node != nullptr) return node;
    return low_.take(more);
  }

  bool in_line() const noexcept { return normal_.in_line(); }
  bool maybe_empty() const noexcept { return normal_.maybe_empty() && high_.maybe_empty() && low_.maybe_empty(); }
  /// Is there something of high priority? A hint.
  bool maybe_urgent() const noexcept { return !high_.maybe_empty(); }

 private:
  static constexpr std::uint32_t turn_of_low = 64;

  injection_queue<Node, Env> normal_;
  injection_queue<Node, Env> high_;
  injection_queue<Node, Env> low_;
  typename Env::template atomic<std::uint32_t> passed_{1};
};

}  // namespace heist::detail
