// What the running code belongs to: the task's own note, which follows the task from worker to worker.
#pragma once

namespace oneapi {}
namespace tbb {

class task_group_context;

namespace detail {

class arena;

/// Of a task; of a thread that runs none: nothing.
struct task_state {
  arena* in = nullptr;
  task_group_context* group = nullptr;
};

/// The calling thread's. A task that waits may resume on another thread: what waits keeps it (keep_task_state).
/// Not inline, and not to be kept: a compiler must not remember the address over a wait.
[[gnu::noinline]] inline task_state& this_task() noexcept {
  static thread_local task_state state;
  asm volatile("" : : : "memory");
  return state;
}

/// Gives the state back where the block ends, on whichever thread that is.
class keep_task_state {
 public:
  keep_task_state() noexcept : kept_{this_task()} {}
  keep_task_state(keep_task_state const&) = delete;
  keep_task_state& operator=(keep_task_state const&) = delete;
  ~keep_task_state() { this_task() = kept_; }

 private:
  task_state const kept_;
};

}  // namespace detail
}  // namespace tbb

namespace oneapi {
namespace tbb = ::tbb;
}
