// Bodies of remote.hpp.
#pragma once

#include "heist/core/fork/remote.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

HEIST_BODY context context_of_caller(char const* what) {
  worker* const w = this_worker();
  if (w == nullptr) {
    throw executor_error{
        format_text("{} without a context, outside of any task: there is none to take. Fix it by calling it inside "
                    "executor::invoke.",
                    {what})};
  }
  fiber& self = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
  return context_access::make<context>(self, position_here(self));
}

HEIST_COLD_BODY fiber& fiber_of_caller(fiber& of) noexcept {
  worker* const w = this_worker();
  if (w == nullptr) {
    HEIST_FATAL(
        "a task's context or scope is used on a thread that runs no task: it belongs to the task that it was handed "
        "to, and to what that forks; fix it by executor::invoke or executor::submit there");
  }
  remote_extension const* const others = of.scheduler.remote_executors();
  if (&w->scheduler != &of.scheduler && (others == nullptr || !others->has_remote(*w))) {
    HEIST_FATAL(
        "a task's context or scope is used by a task of another executor; fix it by the context that that task is "
        "handed, or by submitting to the first executor");
  }
  fiber& here = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
  if (&here == &of && !of.runs_here()) of.has_other_stacks();
  return here;
}

}  // namespace heist::detail
