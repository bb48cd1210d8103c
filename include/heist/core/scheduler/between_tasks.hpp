// A worker's checks between two tasks: requests from outside, and the entry that has waited longest (README.md, "The
// loop", "Requests").
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// Requests that come about as fast as they are run would be taken one by one, and both sides would wait for the
/// other's cache lines each time: a pause of a microsecond lets some gather. One client that waits for each answer is
/// no crowd.
inline constexpr int gathering_pauses = 32;
inline void let_gather(worker& w) noexcept {
  if (!w.share.is_burst() || w.scheduler.requests.in_line() || !w.share.has_just_taken(os_env::ticks())) return;
  for (int i = 0; i != gathering_pauses; ++i) os_env::relax();
}

/// Between two tasks: lets in a fiber that waits for this worker, or a request if it is due, before `t`.
runnable* handle_notification(runnable* t, worker& w);

/// Now and then: the oldest entry of its own deque has its turn before `t`, so that no entry waits for ever because
/// younger tasks keep coming.
runnable* look_back(runnable* t, worker& w);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/between_tasks.ipp"
#endif
