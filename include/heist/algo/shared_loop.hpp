// A loop whose iterations a thread and free workers take from both ends (README.md, "Shared loops").
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <stop_token>

#include "heist/algo/loop.hpp"
#include "heist/base/config.hpp"
#include "heist/executor/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sync/shared_range.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// Runs [0, n) of `body`, which needs no context and has no result, on the calling thread and on workers of `home` that
/// are free; never waits for one that is not. `here`: the fiber of the caller, a task of `home`; null: a thread outside.
/// False if it was stopped. Rethrows what the body throws; of several exceptions, that of the lowest iterations. Throws
/// executor_error if the executor stops.
///
/// At most as many iterations run at a time as there are workers. A loop with many iterations for each begins alone for
/// some microseconds, so that a short one wakes no worker.
bool run_shared(core& home, fiber* here, loop_body<context>& body, std::size_t n, std::size_t grain,
                std::stop_token const& stop);

/// May a loop be shared that `here` calls (null: a thread outside)? Not where a policy places what tasks fork, nor where
/// an observer wants to be told of forks. A task alone on its executor uses the loop engine, which lets requests in.
inline bool may_share_loops(core const& home, fiber const* here) noexcept {
  return home.room == nullptr && home.on_fiber == nullptr && (here == nullptr || home.worker_count != 1);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/algo/shared_loop.ipp"
#endif
