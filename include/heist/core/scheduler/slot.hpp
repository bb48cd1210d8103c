// Which thread has a sleeping worker: its own, or a helper (helper.hpp).
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// Lends the slot of `w`, which is about to sleep: a helper may then carry `w`. A worker that a helper carries does not
/// call it.
void release_slot(worker& w) noexcept;
/// It is awake for a moment: no helper may borrow it. False if one has.
bool keep_slot(worker& w) noexcept;
/// It has been woken: returns when no helper carries it.
void reclaim_slot(worker& w) noexcept;

}  // namespace heist::detail
