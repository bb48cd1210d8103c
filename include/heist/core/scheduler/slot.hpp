// Which thread has a sleeping worker: its own, or a guest (helper.hpp).
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// What a worker that is about to sleep says: a guest may carry it. Not where a guest does.
void release_slot(worker& w) noexcept;
/// It is awake for a moment: no guest may borrow it. False if one has.
bool keep_slot(worker& w) noexcept;
/// It has been woken: returns when no guest carries it.
void reclaim_slot(worker& w) noexcept;

}  // namespace heist::detail
