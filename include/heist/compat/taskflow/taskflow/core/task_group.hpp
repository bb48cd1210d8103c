// Groups of asyncs that a task starts and waits for.
#pragma once

#include <cstddef>
#include <exception>  // current_exception
#include <type_traits>
#include <utility>  // forward

#include "heist/async.hpp"
#include "heist/compat/taskflow/taskflow/core/scheduling.hpp"
#include "heist/fork_join.hpp"

namespace tf {

/// Made by executor.task_group() in a task of that executor, and used by it and by its tasks. corun() before it goes.
class TaskGroup : public detail::async_functions<TaskGroup> {
 public:
  explicit TaskGroup(Executor& on) : on_{on} {
    all_.open.store(1, std::memory_order_relaxed);  // relaxed: no other thread knows it yet
  }
  TaskGroup(TaskGroup const&) = delete;
  TaskGroup& operator=(TaskGroup const&) = delete;

  Executor& executor() noexcept { return on_; }

  using async_functions::silent_async;
  /// In the task that made the group, a function without parameters becomes a fork of heist. corun() runs it in place if
  /// no other worker has taken it.
  template <class F>
  void silent_async(F&& f) {
    if constexpr (StaticTaskLike<F> && forks) {
      // Observers see asyncs only.
      if (heist::current_stack() == maker_ && on_.num_observers() == 0)
        return fork(std::decay_t<F>(std::forward<F>(f)));
    }
    silent_async(DefaultTaskParams{}, std::forward<F>(f));
  }

  /// Waits for the asyncs: the task that made the group runs what it has forked, and parks. Throws what one of them
  /// threw.
  void corun() {
    if (heist::current_stack() == maker_) forks_.join();
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
  /// Elsewhere a fork may begin before silent_async() returns, or in another order than asyncs.
#if defined(TF_ENABLE_TASK_PRIORITY)
  static constexpr bool forks = false;
#else
  static constexpr bool forks = Executor::policy::order_type::value == heist::fork_order::parent_first;
#endif

  template <class F>
  void fork(F f) {
    all_.open.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is open, too
    try {
      forks_.post([this, function = std::move(f)]() mutable { run(function); });
    } catch (...) {
      all_.open.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
      throw;
    }
  }
  template <class F>
  void run(F& f) noexcept {
    try {
      if (!all_.stopped()) f();
    } catch (...) {
      std::exception_ptr e = std::current_exception();
      Executor::keep_in(all_, e);
    }
    Executor::child_ends(all_);
  }

  Executor& on_;
  void const* const maker_ = heist::current_stack();
  detail::parent all_{detail::role::group, detail::parent::runtime};
  heist::scope<> forks_;  // last: it waits
};

inline TaskGroup Executor::task_group() {
  reject_outside("heist: a tf::TaskGroup is made by a task of its executor; fix it by executor.async().");
  return TaskGroup{*this};
}

}  // namespace tf
