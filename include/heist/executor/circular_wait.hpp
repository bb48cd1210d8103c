// Waiting for the end of a task or of a run, unless that waits for the caller (README.md, "Circles of waits").
#pragma once

#include "heist/base/config.hpp"
#include "heist/executor/async.hpp"
#include "heist/sched/wait.hpp"

namespace heist::detail {

/// Returns when the task has ended (wait_for). Throws executor_error, besides, if the task waits for the calling one,
/// directly or through others.
void wait_for_future(async_base& task);
/// The same of what is complete with a run's end.
void wait_for_run(completion& end, unsigned generation, wait_reason const& why);
/// Returns when the task has ended. For those who cannot be refused; others see that they wait, and may be.
void wait_for_async(async_base& task);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/executor/circular_wait.ipp"
#endif
