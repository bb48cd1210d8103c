// Groups of asyncs that a task starts and waits for.
#pragma once

#include <atomic>
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
  /// Of the task that made the group, of a function without parameters: a fork of heist, which corun() runs in place
  /// where no other worker has taken it.
  template <class F>
  void silent_async(F&& f) {
    if constexpr (StaticTaskLike<F>) {
      if (may_fork()) {
        forked_.store(forked() + 1, std::memory_order_relaxed);  // relaxed: for size(); this task counts
        return forks_.fork([this, function = std::decay_t<F>(std::forward<F>(f))]() mutable { run(function); });
      }
    }
    silent_async(DefaultTaskParams{}, std::forward<F>(f));
  }

  /// Waits for the asyncs: the caller runs what it has forked, and parks. Throws what one of them threw.
  void corun() {
    forks_.join();
    forked_.store(0, std::memory_order_relaxed);  // relaxed: all have ended
    ended_.store(0, std::memory_order_relaxed);   // relaxed: as above
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
  std::size_t size() const noexcept {
    std::size_t const ended = ended_.load(std::memory_order_relaxed);         // relaxed: as said; first
    return all_.open.load(std::memory_order_relaxed) - 1 + forked() - ended;  // relaxed: as said
  }

  // For the code of the layer.
  detail::async_scheduler scheduler() noexcept { return {&on_, &all_, nullptr}; }

 private:
  static constexpr std::size_t most_forks = 1024;  // heist calls forks in place where thousands wait

  /// Forks are for the task that made the group. Observers see asyncs only.
  bool may_fork() const noexcept {
#if defined(TF_ENABLE_TASK_PRIORITY)
    return false;
#else
    return heist::current_stack() == maker_ && on_.num_observers() == 0 && forked() < most_forks;
#endif
  }
  /// Since the last corun().
  std::size_t forked() const noexcept {
    return forked_.load(std::memory_order_relaxed);  // relaxed: the maker's own, and for size()
  }
  template <class F>
  void run(F& f) noexcept {
    try {
      if (!all_.stopped()) f();
    } catch (...) {
      std::exception_ptr e = std::current_exception();
      Executor::keep_in(all_, e);
    }
    ended_.fetch_add(1, std::memory_order_relaxed);  // relaxed: for size()
  }

  Executor& on_;
  void const* const maker_ = heist::current_stack();
  detail::parent all_{detail::role::group, detail::parent::runtime};
  std::atomic<std::size_t> forked_{0}, ended_{0};
  heist::scope<> forks_;  // last: it waits
};

inline TaskGroup Executor::task_group() {
  reject_outside("heist: a tf::TaskGroup is made by a task of its executor; fix it by executor.async().");
  return TaskGroup{*this};
}

}  // namespace tf
