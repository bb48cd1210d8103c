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

/// Takes a task from the mail of `w`. Otherwise takes one from the mail or the deque of another worker of its squad.
/// `peers`: all workers of the squad. `w` calls it. core::give notifies the squad of mail to one of its workers, so
/// each of them looks once more before it sleeps (core::work_for).
found_near look_near(worker& w, std::vector<worker*> const& peers) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/near_search.ipp"
#endif
