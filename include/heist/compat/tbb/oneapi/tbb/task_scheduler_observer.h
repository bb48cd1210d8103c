// task_scheduler_observer: is called when a thread begins to work in an arena.
#pragma once

#include <memory>  // make_shared, shared_ptr

#include "heist/compat/tbb/oneapi/tbb/task_arena.h"

namespace tbb {

/// on_scheduler_entry(is_worker) is called on each thread before its first task in the arena, on_scheduler_exit() where a
/// thread that is no worker leaves. Workers do not leave.
class task_scheduler_observer : detail::arena_observer {
 public:
  task_scheduler_observer() : in_{detail::current_arena()} {}
  explicit task_scheduler_observer(task_arena& a) : in_{detail::arena_of(a)} {}
  virtual ~task_scheduler_observer() { observe(false); }

  /// False: no call begins any more after it has returned.
  void observe(bool state = true) {
    if (state == is_observing_) return;
    is_observing_ = state;
    if (state) {
      in_.add_observer(*this);
    } else {
      in_.remove_observer(*this);
    }
  }
  bool is_observing() const noexcept { return is_observing_; }

  virtual void on_scheduler_entry(bool) {}
  virtual void on_scheduler_exit(bool) {}

 private:
  void enters(bool is_worker) override { on_scheduler_entry(is_worker); }
  void leaves(bool is_worker) override { on_scheduler_exit(is_worker); }

  detail::arena& in_;
  bool is_observing_ = false;
};

}  // namespace tbb
