// A join of children whose number is known only when they have all been forked.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/base/env.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

/// Children count it down from 0; the frame adds how many there are when it waits, so that forking touches no shared
/// counter. Whoever brings the sum to 0 completes.
///
/// Threads  ended() by each child that runs elsewhere, as its last look; add() by the frame.
struct counted_join {
  os_env::atomic<std::int64_t> outstanding{0};
  completion all;

  void ended() noexcept {
    // acq_rel: the last one, and through it the frame, sees what all did
    if (outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) all.complete();
  }
  /// False if all have ended.
  bool add(std::int64_t children) noexcept {
    return children != 0 &&
           outstanding.fetch_add(children, std::memory_order_acq_rel) != -children;  // acq_rel: as in ended()
  }
};

}  // namespace heist::detail
