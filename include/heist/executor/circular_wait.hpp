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

/// Waits on behalf of a task, which has a place of its own to wait in until this has ended: a coroutine.
struct part_of_task {
  completion const* end;                        ///< of the task
  completion_waiter* itself;                    ///< woken by who completes what it waits for
  void (*leaves)(completion_waiter&) noexcept;  ///< called before it may be woken
};
/// The end of the calling task, which is about to wait for a part of itself; null: it is none, or not known.
completion const* end_of_calling_task() noexcept;
/// The part waits for `end`, that of `awaited` (null: of a run). False: that has ended, and nobody wakes the part. Throws
/// executor_error, and has not called `leaves`, if it waits for the part's task.
bool wait_as_part(completion& end, async_base const* awaited, part_of_task const& waits);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/executor/circular_wait.ipp"
#endif
