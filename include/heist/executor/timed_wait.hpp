// Waiting for a task, with and without a limit in time.
#pragma once

#include <cstdint>

#include "heist/base/config.hpp"
#include "heist/executor/async.hpp"

namespace heist::detail {

/// Sleeps until the task has ended, for at most so many nanoseconds, or less. Throws bad_alloc; and executor_error in a
/// child of the process that the task runs in.
void sleep_for_async(async_base& task, std::int64_t nanoseconds);

/// Returns true when the task has ended, false when `left()`, in nanoseconds, is 0.
template <class Left>
bool wait_until_done(async_base& task, Left&& left) {
  for (;;) {
    if (task.finished.done()) return true;
    std::int64_t const nanoseconds = left();
    if (nanoseconds == 0) return false;
    sleep_for_async(task, nanoseconds);
  }
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/executor/timed_wait.ipp"
#endif
