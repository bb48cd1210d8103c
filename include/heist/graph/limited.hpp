// How a task with limits runs: acquire one after the other, work, release.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/limiter.hpp"

namespace heist::detail {

/// Gives back what a task gives back when it is done; nothing where it has no limits.
void release_limits(record const& r);

/// Takes the place of the task's own run function. Observers hear of the task when it holds everything.
runnable* run_limited(runnable& task, fiber& self);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/limited.ipp"
#endif
