// Bodies of future.hpp.
#pragma once

#include "heist/sched/future.hpp"

namespace heist::detail {

HEIST_COLD_BODY task_view view_of_async(runnable const& self) noexcept {
  return {task_kind::async, &self, nullptr};
}

HEIST_COLD_BODY bool describe_posted(runnable const& self, task_view& view) noexcept {
  view = view_of_async(self);
  return true;
}

HEIST_COLD_BODY bool describe_async(runnable const& self, task_view& view) noexcept {
  view = view_of_async(self);
  return false;
}

HEIST_COLD_BODY unsigned wave_of_async(runnable const& self) noexcept {
  return self.what->operations->wave(self);
}

HEIST_COLD_BODY void submit_async(core& home, queued_runnable& task) {
  home.submit(task, [&task](unsigned wave) { task.what += wave; });
}

HEIST_COLD_BODY void refuse_own_future(runnable const& task) {
  worker* const w = this_worker();
  if (w == nullptr) return;
  fiber const& on = *w->current.load(std::memory_order_relaxed);    // relaxed: its own
  if (on.running.load(std::memory_order_relaxed) != &task) return;  // relaxed: written by this thread
  throw executor_error{
      "a task waits for its own future, which would never be ready; mend it by returning the result, and by waiting "
      "for it outside of the task."};
}

}  // namespace heist::detail
