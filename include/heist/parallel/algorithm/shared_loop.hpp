// A loop whose iterations a thread and free workers take from both ends (README.md, "Shared loops").
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <stop_token>

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/shared_range.hpp"
#include "heist/parallel/algorithm/loop.hpp"

namespace heist::detail {

/// Runs [0, n) of `body` on the calling thread and on free workers of `scheduler`. Never waits for a busy worker. The
/// body needs no context. `here`: the fiber of the caller, a task of `scheduler`; null: a thread outside. `result`: the
/// loop's, or null. False if it was stopped. Rethrows what the body throws; of several exceptions, that of the lowest
/// iterations. Throws executor_error if the executor stops.
///
/// At most as many iterations run at a time as there are workers. A loop that its first iterations or
/// an earlier call show to be short runs alone, and wakes no worker. A loop whose body is
/// known to take long is opened at once. So is one of several iterations and at most one block for each worker: its iterations
/// may wait for each other.
bool run_shared(core& scheduler, fiber* here, loop_body<context>& body, std::size_t n, std::size_t grain,
                std::stop_token const& stop, void* result);

/// May the caller's loop be shared? `here`: as above. A policy that places forked tasks, and an observer of forks, need
/// the loop engine. A task on an executor of one worker needs it, too: the engine lets external tasks in.
inline bool may_share_loops(core const& scheduler, fiber const* here) noexcept {
  return scheduler.extension == nullptr && scheduler.on_fiber == nullptr &&
         (here == nullptr || scheduler.worker_count != 1);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/shared_loop.ipp"
#endif
