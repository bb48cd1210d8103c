// The tasks of one graph: where they run, how many have not ended, and which go before others.
#pragma once

#include <algorithm>  // pop_heap, push_heap
#include <atomic>
#include <cstddef>  // size_t
#include <mutex>
#include <optional>
#include <utility>  // exchange, move
#include <vector>

#include "heist/compat/tbb/oneapi/tbb/detail/group_context.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/work_count.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/policies.hpp"

namespace tbb::flow::detail {

/// Threads: any, but move_here() only while no task is open.
class graph_tasks {
 public:
  explicit graph_tasks(task_group_context& group) : group_{group}, arena_{&tbb::detail::current_arena()} {}
  graph_tasks(graph_tasks const&) = delete;
  graph_tasks& operator=(graph_tasks const&) = delete;

  task_group_context& group() const noexcept { return group_; }
  /// Work that is no task, and for which wait() waits as well.
  void add_work() noexcept { open_.add_to_all(); }
  void end_work() { open_.remove(); }

  /// Starts `f(may_run)` as a task. `may_run` is false if the graph is cancelled: then `f` gives back what it holds, no more.
  /// An exception of `f` cancels the graph.
  template <class F>
  void spawn(F f, node_priority_t priority = no_priority) {
    tbb::detail::work_count::part* const counted = open_.add();
    if (priority == no_priority) {
      start_or_wait(std::optional<F>{std::move(f)}, counted);
      return;
    }
    {
      std::lock_guard const guard{lock_};
      urgent_.push_back({priority, number_++, std::move(f)});
      std::push_heap(urgent_.begin(), urgent_.end());
      urgent_size_.store(urgent_.size(), std::memory_order_relaxed);  // relaxed: a hint; lock_ orders the tasks
    }
    start([this, counted] {
      if (urgent_function best = take_urgent()) run(best);
      open_.remove(counted);
    });
  }

  bool is_cancelled() const noexcept { return group_.is_group_execution_cancelled(); }
  /// Until all tasks and other work have ended.
  void wait() {
    std::vector<heist::unique_function<void()>> held;
    {
      std::lock_guard const guard{lock_};
      ++waits_;
      held.swap(held_);
    }
    for (auto& f : held) arena_->spawn(&group_, std::move(f));
    open_.wait(*arena_);
    std::lock_guard const guard{lock_};
    --waits_;
  }

  /// From now on tasks run where the caller works.
  void move_here() noexcept { arena_ = &tbb::detail::current_arena(); }
  /// Nodes that are being reset send nothing.
  void set_active(bool is) noexcept { is_active_.store(is, std::memory_order_release); }  // release: is_active()
  bool is_active() const noexcept { return is_active_.load(std::memory_order_acquire); }  // acquire: set_active()

 private:
  using urgent_function = heist::unique_function<void(bool)>;
  struct urgent_task {
    node_priority_t priority;
    std::size_t number;
    urgent_function f;
    friend bool operator<(urgent_task const& a, urgent_task const& b) noexcept {
      return a.priority != b.priority ? a.priority < b.priority : a.number > b.number;
    }
  };

  template <class F>
  void run(F& f) noexcept {
    try {
      f(!is_cancelled());
    } catch (...) {
      tbb::detail::group_access::fail(group_);
    }
  }
  /// If an urgent task goes first, `f` is posted again: the urgent task may park, and `f` must not wait below it.
  template <class F>
  void start_or_wait(std::optional<F> f, tbb::detail::work_count::part* counted) {
    start([this, f = std::move(f), counted]() mutable {
      if (urgent_function first = take_urgent()) {
        // One more for the urgent one: the task that was started for it will find another one or none.
        start_or_wait(std::move(f), open_.add());
        run(first);
      } else {
        run(*f);
      }
      f.reset();  // destroyed before wait() can return
      open_.remove(counted);
    });
  }
  urgent_function take_urgent() {
    if (urgent_size_.load(std::memory_order_relaxed) == 0) return {};  // relaxed: a hint
    std::lock_guard const guard{lock_};
    if (urgent_.empty()) return {};
    std::pop_heap(urgent_.begin(), urgent_.end());
    urgent_function f = std::move(urgent_.back().f);
    urgent_.pop_back();
    urgent_size_.store(urgent_.size(), std::memory_order_relaxed);  // relaxed: as above
    return f;
  }

  template <class F>
  void start(F f) {
    if (!arena_->is_here() && has_no_workers()) {
      std::lock_guard const guard{lock_};
      if (waits_ == 0) {
        held_.emplace_back(std::move(f));
        return;
      }
    }
    arena_->spawn(&group_, std::move(f));
  }
  /// A limit of one thread leaves only the one that waits.
  static bool has_no_workers() { return tbb::detail::market::instance().limit() == std::size_t{1}; }

  task_group_context& group_;
  tbb::detail::arena* arena_;
  tbb::detail::work_count open_;
  std::atomic<bool> is_active_{true};
  tbb::detail::spinning_lock lock_;
  std::size_t waits_ = 0;
  std::vector<heist::unique_function<void()>> held_;  // start with the next wait
  std::size_t number_ = 0;
  std::vector<urgent_task> urgent_;  // a heap; of each, one started task takes the best
  std::atomic<std::size_t> urgent_size_{0};
};

}  // namespace tbb::flow::detail
