// Tasks of graphs that have squads (locality/history/), looked for near: by the workers of one squad, among themselves.
#pragma once

#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

struct runnable;

/// A task, and the worker that had it; or nothing.
struct found_near {
  runnable* task = nullptr;
  worker* had_it = nullptr;
};

/// What was given to `w`, was given to one of its squad, or stands in such a one's deque; in this order. `peers`: all of
/// the squad. By `w`. Mail to a mate is told to the squad (core::give), so each of its workers looks once more before it
/// sleeps (core::work_for).
found_near look_near(worker& w, std::vector<worker*> const& peers) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/near_search.ipp"
#endif
