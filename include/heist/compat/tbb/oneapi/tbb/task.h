// Tasks that wait for what is no task, and the group of the calling task.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/detail/group_context.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/work_count.hpp"

namespace tbb::task {

/// Of a task that suspend() has parked.
using suspend_point = detail::work_count*;

/// Calls f(point), and parks until resume(point).
template <class F>
void suspend(F f) {
  detail::work_count until;
  until.add_to_all();
  f(suspend_point{&until});
  until.wait(detail::current_arena());
}
inline void resume(suspend_point point) {
  point->remove();
}

/// The calling task's; null outside of groups.
inline task_group_context* current_context() {
  return detail::this_task().group;
}

}  // namespace tbb::task
