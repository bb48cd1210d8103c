// global_control: limits for the whole process.
#pragma once

#include <cstddef>  // size_t
#include <mutex>
#include <new>  // nothrow_t
#include <set>
#include <utility>  // exchange

#include "heist/compat/tbb/oneapi/tbb/task_arena.h"

namespace tbb {

/// While it lives, its value takes part: the least number of threads, the largest stack. A limit of threads holds for the
/// workers of all arenas together, and for each arena from its next loop or execute() on. Stacks keep the size that heist's options give them.
class global_control {
 public:
  enum parameter {
    max_allowed_parallelism,
    thread_stack_size,
    terminate_on_exception,
    scheduler_handle,
    parameter_max
  };

  global_control(parameter what, std::size_t value) : what_{what}, value_{value} {
    if (what == max_allowed_parallelism) {
      detail::market::instance().add_limit(value);
      return;
    }
    auto& others = all(what);
    std::lock_guard const guard{others.lock};
    others.values.insert(value);
    tell(what, others.values);
  }
  global_control(global_control const&) = delete;
  global_control& operator=(global_control const&) = delete;
  ~global_control() {
    if (what_ == max_allowed_parallelism) {
      detail::market::instance().remove_limit(value_);
      return;
    }
    auto& others = all(what_);
    std::lock_guard const guard{others.lock};
    others.values.erase(others.values.find(value_));
    tell(what_, others.values);
  }

  static std::size_t active_value(parameter what) {
    if (what == max_allowed_parallelism)
      return detail::market::instance().limit().value_or(detail::market::default_concurrency());
    auto& others = all(what);
    std::lock_guard const guard{others.lock};
    if (!others.values.empty()) return *others.values.rbegin();
    return what == thread_stack_size ? std::size_t{1} << 20 : 0;
  }

 private:
  struct values_in_force {
    std::mutex lock;
    std::multiset<std::size_t> values;
  };
  static void tell(parameter what, std::multiset<std::size_t> const& values) noexcept {
    if (what == terminate_on_exception)
      detail::terminates_on_exception().store(!values.empty() && *values.rbegin() != 0,
                                              std::memory_order_relaxed);  // relaxed: no data comes with it
  }
  static values_in_force& all(parameter what) {
    static auto* const values =
        new values_in_force[parameter_max];  // never destroyed: objects with static storage use it
    return values[what];
  }

  parameter const what_;
  std::size_t const value_;
};

class task_scheduler_handle {
 public:
  task_scheduler_handle() = default;
  task_scheduler_handle(attach) noexcept : is_valid_{true} {}
  task_scheduler_handle(task_scheduler_handle&& other) noexcept : is_valid_{std::exchange(other.is_valid_, false)} {}
  task_scheduler_handle& operator=(task_scheduler_handle&& other) noexcept {
    is_valid_ = std::exchange(other.is_valid_, false);
    return *this;
  }
  explicit operator bool() const noexcept { return is_valid_; }
  void release() noexcept { is_valid_ = false; }

 private:
  bool is_valid_ = false;
};

/// The workers sleep until they are needed again; they are not joined.
inline bool finalize(task_scheduler_handle& h, std::nothrow_t const&) noexcept {
  h.release();
  return true;
}
inline void finalize(task_scheduler_handle& h) {
  h.release();
}

}  // namespace tbb
