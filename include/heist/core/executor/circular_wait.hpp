// Waiting for the end of a task or of a run, unless that waits for the caller (README.md, "Circles of waits").
#pragma once

#include <optional>
#include <stop_token>

#include "heist/core/base/config.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

/// The receiver of a waiting task's stop. The wait calls stop(what) if the waiting task is part of `origin` and that is
/// stopped.
struct stop_target {
  stop_origin origin = {};  ///< none: there is no receiver
  void (*stop)(void* what) noexcept = nullptr;
  void* what = nullptr;
};
/// Hands a waiting task's stop on as long as this object lives. Does nothing if there is no memory for that.
class propagated_stop {
 public:
  /// Hands on the stop of the calling task.
  explicit propagated_stop(stop_target const& to) noexcept;
  /// Hands on the stop of the task with this interrupt_state.
  propagated_stop(stop_target const& to, interrupt_state const* waiting) noexcept;

 private:
  struct call {
    stop_target to;
    void operator()() const noexcept { to.stop(to.what); }
  };
  std::optional<std::stop_callback<call>> callback_;
};
/// The receiver of `task`: its inherited_stop, if it has one.
stop_target stop_target_of(async_base& task) noexcept;

/// Returns when the task has ended (wait_for). Throws executor_error, besides, if the task waits for the calling one,
/// directly or through other tasks.
void wait_for_future(async_base& task);
/// The same for a completion that ends with a run.
void wait_for_run(completion& end, unsigned generation, wait_reason const& why, stop_target const& to);
/// As wait_for_future(), for callers that cannot leave before the end (wait_to_the_end).
void wait_for_future_to_the_end(async_base& task);
/// Returns when the task has ended. For callers that cannot be refused. Other tasks see that the caller waits, and may
/// be refused.
void wait_for_async(async_base& task);

/// Waits on behalf of a task, which has a place of its own to wait in until this has ended: a coroutine.
struct part_of_task {
  completion const* end;                        ///< of the task
  completion_waiter* itself;                    ///< woken by the end that the part waits for
  void (*leaves)(completion_waiter&) noexcept;  ///< called before it may be woken
};
/// The end of the calling task, which is about to wait for a part of itself; null: it is none, or not known.
completion const* end_of_caller_task() noexcept;
/// The part waits for `end`, that of `awaited` (null: of a run). False: `end` is complete, and the part is not woken.
/// Throws executor_error, and has not called `leaves`, if it waits for the part's task.
bool wait_as_part(completion& end, async_base const* awaited, part_of_task const& waits);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/executor/circular_wait.ipp"
#endif
