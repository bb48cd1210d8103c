// What a task is part of: what may skip it, and where it must stay.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/base/env.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sched/squad_set.hpp"

namespace heist::detail {

using squad = basic_squad<pooled_runnable, queued_runnable>;

/// An inter-squad task, while it or its subtree runs.
struct squad_task {
  squad* in = nullptr;      ///< the squad that runs it
  bool holds = false;       ///< that squad is busy with it
  bool suspended = false;   ///< it waits for inter-squad children
  std::uint32_t level = 0;  ///< in the region's tree: the region's body is 1
};

/// Why the tasks of a run are skipped: bits of one word, 0 as long as they are not; and the run that it is part of.
struct interrupt_state {
  bool any() const noexcept {
    // relaxed: advice; the end of a run is ordered otherwise
    if (why.load(std::memory_order_relaxed) != 0) return true;
    return outer != nullptr && outer->any();
  }

  os_env::atomic<std::uint32_t> why{0};
  interrupt_state const* outer = nullptr;
  squad_task* bound = nullptr;  ///< the inter-squad task whose subtree this is, which stays in that task's squad
  bool stays = false;           ///< fibers that park go on on the same worker
};

}  // namespace heist::detail
