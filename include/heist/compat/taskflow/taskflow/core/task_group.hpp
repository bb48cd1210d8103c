// Groups of asyncs that a task starts and waits for.
#pragma once

#include <cstddef>

#include "heist/compat/taskflow/taskflow/core/scheduling.hpp"

namespace tf {

/// Made by executor.task_group() in a task of that executor, and used by it and by its tasks. corun() before it goes.
class TaskGroup : public detail::async_functions<TaskGroup> {
 public:
  explicit TaskGroup(Executor& on) noexcept : on_{on} {
    all_.open.store(1, std::memory_order_relaxed);  // relaxed: no other thread knows it yet
  }
  TaskGroup(TaskGroup const&) = delete;
  TaskGroup& operator=(TaskGroup const&) = delete;

  Executor& executor() noexcept { return on_; }
  /// Waits for the asyncs: the caller parks. Throws what one of them threw.
  void corun() {
    Executor::wait_for_children(all_);
    // relaxed: all have ended
    all_.flags.fetch_and(~detail::parent::cancelled, std::memory_order_relaxed);
    all_.rethrow();
  }
  /// Asyncs that have not begun are skipped.
  void cancel() noexcept {
    all_.flags.fetch_or(detail::parent::cancelled, std::memory_order_relaxed);  // relaxed: advice
  }
  bool is_cancelled() const noexcept {
    // relaxed: advice
    return (all_.flags.load(std::memory_order_relaxed) & detail::parent::cancelled) != 0;
  }
  /// Asyncs that have not ended: a snapshot.
  std::size_t size() const noexcept { return all_.open.load(std::memory_order_relaxed) - 1; }  // relaxed: as said

  // For the code of the layer.
  detail::async_scheduler scheduler() noexcept { return {&on_, &all_, nullptr}; }

 private:
  Executor& on_;
  detail::parent all_{detail::role::group, detail::parent::runtime};
};

inline TaskGroup Executor::task_group() {
  reject_outside("heist: a tf::TaskGroup is made by a task of its executor; fix it by executor.async().");
  return TaskGroup{*this};
}

}  // namespace tf
