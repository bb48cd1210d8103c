// A queue of tasks, and the threads that run them one after the other (parallel/async/README.md, "Tasks for one thread").
#pragma once

#include <cstddef>  // size_t
#include <utility>  // exchange

#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

/// First in, first out. `Task` has a member `Task* next`, null outside of the queue.
///
/// Threads  every member by any.
template <class Task, class Env = os_env>
class run_queue {
 public:
  run_queue() noexcept = default;
  run_queue(run_queue const&) = delete;
  run_queue& operator=(run_queue const&) = delete;

  void push(Task& task) noexcept {
    lock_.lock();
    (tail_ == nullptr ? head_ : tail_->next) = &task;
    tail_ = &task;
    ++size_;
    runner* const one = take_runner();
    lock_.unlock();
    wake_all(one);
  }

  std::size_t size() noexcept {
    spin_guard guard{lock_};
    return size_;
  }

  /// Calls `run(task)` for one task after the other until `is_over(n)` after n of them; this is called under the lock.
  /// `wait(completion)` waits until a task comes, or the end: the code that makes is_over() true wakes every waiter.
  template <class IsOver, class Run, class Wait>
  void run_while(IsOver&& is_over, Run&& run, Wait&& wait) {
    std::size_t n = 0;
    lock_.lock();
    while (!is_over(n)) {
      if (Task* const task = take(); task != nullptr) {
        lock_.unlock();
        run(*task);
        ++n;
      } else {
        runner me;
        me.next = std::exchange(waiting_, &me);
        lock_.unlock();
        wait(me.woken);
      }
      lock_.lock();
    }
    lock_.unlock();
  }

  /// For is_over().
  bool is_empty() const noexcept { return head_ == nullptr; }
  bool is_finished() const noexcept { return is_finished_; }

  void finish() noexcept {
    lock_.lock();
    is_finished_ = true;
    runner* const all = std::exchange(waiting_, nullptr);
    lock_.unlock();
    wake_all(all);
  }

  /// Wakes the waiters when something else is complete. It lies in the frame that waits for that, and is to be there
  /// until is_complete.
  struct end_watch : completion_waiter {
    explicit end_watch(run_queue& of) noexcept : completion_waiter{&wake_up}, queue{of} {}

    run_queue& queue;
    bool is_complete = false;  ///< under the lock

   private:
    static void wake_up(completion_waiter& self) noexcept {
      auto& me = static_cast<end_watch&>(self);
      spin_lock<Env>& lock = me.queue.lock_;
      lock.lock();
      me.is_complete = true;
      runner* const all = std::exchange(me.queue.waiting_, nullptr);
      lock.unlock();  // the queue and the watch may be gone now; the waiters are still there
      wake_all(all);
    }
  };

 private:
  struct runner {
    basic_completion<Env> woken;
    runner* next = nullptr;
  };

  Task* take() noexcept {
    Task* const task = head_;
    if (task == nullptr) return nullptr;
    head_ = std::exchange(task->next, nullptr);
    if (head_ == nullptr) tail_ = nullptr;
    --size_;
    return task;
  }
  runner* take_runner() noexcept {
    runner* const one = waiting_;
    if (one != nullptr) waiting_ = std::exchange(one->next, nullptr);
    return one;
  }
  static void wake_all(runner* first) noexcept {
    while (first != nullptr) std::exchange(first, first->next)->woken.complete();
  }

  spin_lock<Env> lock_;
  Task* head_ = nullptr;
  Task* tail_ = nullptr;
  std::size_t size_ = 0;
  runner* waiting_ = nullptr;
  bool is_finished_ = false;
};

}  // namespace heist::detail
