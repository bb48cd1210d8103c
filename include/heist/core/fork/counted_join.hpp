// A join of children whose number is known only when they have all been forked.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

/// Children count it down; the frame adds how many there are when it waits, so that its forks touch no shared counter.
/// The one that brings the sum to 0 completes: only after the frame has added, which takes the bias away.
///
/// Threads  ended() by each child that runs elsewhere, as its last look; one_more() by code that is part of such a
///          child; the rest by the frame.
class counted_join {
 public:
  void ended() noexcept {
    // acq_rel: the last child, and through it the frame, sees the effects of all
    if (outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1) all.complete();
  }
  /// A child that the frame does not know of.
  void one_more() noexcept {
    outstanding_.fetch_add(1, std::memory_order_relaxed);  // relaxed: ended() decides, and some child has not called it
  }
  /// False if all have ended; then it can be used again.
  bool add(std::int64_t children) noexcept {
    if (children == 0 && nothing_since()) return false;
    // acq_rel: as in ended()
    if (outstanding_.fetch_add(children - bias, std::memory_order_acq_rel) != bias - children) return true;
    outstanding_.store(bias, std::memory_order_relaxed);  // relaxed: no other thread has it now
    return false;
  }
  /// No child that the frame would wait for has ended, or been added by another child.
  bool nothing_since() const noexcept {
    return outstanding_.load(std::memory_order_acquire) == bias;  // acquire: pairs with ended()
  }
  /// After the wait: it can be used again.
  void reset() noexcept {
    outstanding_.store(bias, std::memory_order_relaxed);  // relaxed: no other thread has it now
    all.reset();
  }

  completion all;

 private:
  static constexpr std::int64_t bias = std::int64_t{1} << 62;
  os_env::atomic<std::int64_t> outstanding_{bias};
};

}  // namespace heist::detail
