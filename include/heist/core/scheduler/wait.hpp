// Waiting for a completion, from a task or from a thread outside.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/observe/outside_waits.hpp"
#include "heist/core/observe/parked_note.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

/// The waits of threads outside of all executors; for people.
outside_waits& threads_that_wait() noexcept;

/// Notes that the calling thread, which is outside, waits for something.
class noted_thread : outside_note {
 public:
  explicit noted_thread(wait_reason const& why) noexcept;
  noted_thread(noted_thread const&) = delete;
  noted_thread& operator=(noted_thread const&) = delete;
  ~noted_thread();

 private:
  static std::string to_text(outside_note const& self);

  char const* const what_;
  noted_name name_;
};
/// Blocks the calling thread until `c` is complete.
void wait_outside(completion& c, wait_reason const& why) noexcept;

/// Returns when `c` is complete. Inside a task of any executor it parks the task, whose worker continues with other
/// work; outside it blocks the thread. `why`: the text of executor::state_text on the wait. `generation`: of the
/// process that will complete it; in a child of that one it throws executor_error. Throws stack_error or bad_alloc if a
/// task cannot park because there is no stack for its worker to continue with.
void wait_for(completion& c, unsigned generation, wait_reason const& why);
/// The same; inside a task `check` is called when the task is in line. Returns false if `check` has found the wait to
/// be useless.
bool wait_for(completion& c, unsigned generation, wait_reason const& why, wait_check& check);
/// For callers that cannot leave before it is complete: as wait_for, but without a stack it waits all the same
/// (fiber::wait_for).
void wait_to_the_end(completion& c, unsigned generation, wait_reason const& why);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/wait.ipp"
// Bodies of core that wait.
#include "heist/core/scheduler/core_start.ipp"
#include "heist/core/scheduler/state_text.ipp"
#endif
