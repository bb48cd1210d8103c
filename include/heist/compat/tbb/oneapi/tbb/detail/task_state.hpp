// What the running code belongs to: the task's own note, which follows the task from worker to worker.
#pragma once

#include "heist/async.hpp"

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

/// The calling task's. It lies with the thread: a task that waits may resume on another one, so what waits keeps it
/// (keep_task_state). What a task of another kind finds there from a task that has parked is not its own: it gets nothing.
/// Not inline, and not to be kept: a compiler must not remember the address over a wait.
[[gnu::noinline]] inline task_state& this_task() noexcept {
  static thread_local task_state state;
  static thread_local void const* stack = nullptr;  // of the task that has set it
  asm volatile("" : : : "memory");
  void const* const here = heist::current_stack();
  if (stack != here) {
    stack = here;
    state = {};
  }
  return state;
}

/// Calls f() as a task with this state.
template <class F>
void run_as(task_state const& state, F& f) {
  struct forget {
    ~forget() { this_task() = {}; }  // a later task may have this stack
  } const at_end;
  this_task() = state;
  f();
}

/// Gives the state back where the block ends, on whichever thread that is.
class keep_task_state {
 public:
  keep_task_state() noexcept : kept_{this_task()} {}
  keep_task_state(keep_task_state const&) = delete;
  keep_task_state& operator=(keep_task_state const&) = delete;
  ~keep_task_state() { this_task() = kept_; }
  task_state const& state() const noexcept { return kept_; }

 private:
  task_state const kept_;
};

}  // namespace detail
}  // namespace tbb

namespace oneapi {
namespace tbb = ::tbb;
}
