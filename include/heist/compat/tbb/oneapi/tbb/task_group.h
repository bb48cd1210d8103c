// task_group, and tasks that start later.
#pragma once

#include <cstddef>     // nullptr_t
#include <functional>  // invoke
#include <memory>      // unique_ptr
#include <type_traits>
#include <utility>  // forward, move

#include "heist/compat/tbb/oneapi/tbb/detail/division.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/group_task.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/work_count.hpp"

namespace tbb {

enum task_group_status { not_complete, complete, canceled };

namespace detail {

/// A task of a group that has not run. Its group waits for its end, also if it never runs.
class deferred_task {
 public:
  deferred_task(task_group_context& group, work_count& open) : group_{group}, open_{open}, counted_{open.add()} {}
  deferred_task(deferred_task const&) = delete;
  deferred_task& operator=(deferred_task const&) = delete;
  virtual ~deferred_task() = default;
  virtual void call() = 0;
  task_group_context& group() const noexcept { return group_; }
  work_count& open() const noexcept { return open_; }
  work_count::part* counted() const noexcept { return counted_; }

 private:
  task_group_context& group_;
  work_count& open_;
  work_count::part* const counted_;
};

template <class F>
class deferred_function final : public deferred_task {
 public:
  template <class G>
  deferred_function(task_group_context& group, work_count& open, G&& f)
      : deferred_task{group, open}, f_(std::forward<G>(f)) {}
  void call() override { std::invoke(f_); }

 private:
  F f_;
};

/// Its group may end when the task and its function are destroyed.
struct end_deferred {
  void operator()(deferred_task* t) const noexcept {
    work_count& open = t->open();
    work_count::part* const counted = t->counted();
    delete t;
    open.remove(counted);
  }
};

struct handle_access;

}  // namespace detail

/// Owns a task that task_group::defer() has made.
class task_handle {
 public:
  task_handle() noexcept = default;
  task_handle(task_handle&&) noexcept = default;
  task_handle& operator=(task_handle&&) noexcept = default;
  explicit operator bool() const noexcept { return task_ != nullptr; }
  friend bool operator==(task_handle const& t, std::nullptr_t) noexcept { return t.task_ == nullptr; }

 private:
  friend struct detail::handle_access;
  std::unique_ptr<detail::deferred_task, detail::end_deferred> task_;
};

namespace detail {
struct handle_access {
  static auto& task(task_handle& h) noexcept { return h.task_; }
};

/// Starts it as a task of `on`.
inline void start(arena& on, task_handle h) {
  task_group_context* const group = &handle_access::task(h)->group();
  on.spawn(group, [h = std::move(h)]() mutable {
    auto& t = handle_access::task(h);
    run_in(t->group(), [&] { t->call(); });
    t.reset();
  });
}
}  // namespace detail

/// Tasks that are waited for together. The destructor waits for those that wait() has not seen.
class task_group {
 public:
  task_group() noexcept : context_{own_} {}
  explicit task_group(task_group_context& context) noexcept : context_{context} {}
  task_group(task_group const&) = delete;
  task_group& operator=(task_group const&) = delete;
  ~task_group() {
    if (!open_.is_zero()) {
      cancel();
      open_.wait(detail::current_arena());
    }
  }

  template <class F>
  void run(F&& f) {
    detail::group_access::bind(context_);
    detail::current_arena().spawn(&context_, detail::group_task<std::decay_t<F>>{context_, open_, std::forward<F>(f)});
  }
  void run(task_handle&& h) { detail::start(detail::current_arena(), std::move(h)); }

  template <class F>
  [[nodiscard]] task_handle defer(F&& f) {
    detail::group_access::bind(context_);
    task_handle h;
    detail::handle_access::task(h).reset(
        new detail::deferred_function<std::decay_t<F>>(context_, open_, std::forward<F>(f)));
    return h;
  }

  /// Rethrows the first exception of the tasks. Then the group can be used again.
  task_group_status wait() {
    open_.wait(detail::current_arena());
    return end();
  }
  /// Calls f() itself, and waits.
  template <class F>
  task_group_status run_and_wait(F const& f) {
    detail::group_access::bind(context_);
    detail::current_arena().enter([&] {
      {
        detail::keep_task_state const kept;
        detail::this_task().group = &context_;
        detail::run_in(context_, f);
      }
      open_.wait(detail::current_arena());
    });
    return end();
  }
  task_group_status run_and_wait(task_handle&& h) {
    run(std::move(h));
    return wait();
  }

  void cancel() { context_.cancel_group_execution(); }

 private:
  task_group_status end() {
    task_group_status const how = context_.is_group_execution_cancelled() ? canceled : complete;
    if (detail::group_access::has_failed(context_)) {
      std::exception_ptr const e = detail::group_access::take(context_);
      context_.reset();
      std::rethrow_exception(e);
    }
    if (how == canceled) context_.reset();
    return how;
  }

  task_group_context own_;
  task_group_context& context_;
  detail::work_count open_;
};

class isolated_task_group : public task_group {
 public:
  using task_group::task_group;
};

/// Is the group of the calling task cancelled?
inline bool is_current_task_group_canceling() {
  task_group_context const* const group = detail::this_task().group;
  return group != nullptr && group->is_group_execution_cancelled();
}

}  // namespace tbb
