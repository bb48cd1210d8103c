// Which thread has a sleeping worker: its own, or a helper (helper.hpp).
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// Gives the permit of `w` back, which is about to sleep, and lends its slot: a helper may then carry `w`, unless one does.
void release_slot(worker& w, bool has_helper) noexcept;
/// It is awake for a moment: no helper may borrow it. False if one has.
bool keep_slot(worker& w) noexcept;
/// It has been woken, so no helper carries it but the caller. Returns when it has a permit again.
void reclaim_slot(worker& w, bool has_helper) noexcept;

}  // namespace heist::detail
