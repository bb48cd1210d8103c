// Waits for a bare completion as the library's own futures and runs do.
#pragma once

#include <atomic>

#include "heist/core/executor/executor.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist_test {

/// Inside a task it parks the task, outside it blocks the thread.
inline void wait_for(heist::detail::completion& c) {
  if (auto* const w = heist::detail::this_worker(); w != nullptr) {
    w->current.load(std::memory_order_relaxed)->wait_for(c);  // relaxed: its own
    return;
  }
  heist::detail::thread_waiter<> me;
  if (c.add_entry(me)) me.wait();
}

}  // namespace heist_test
