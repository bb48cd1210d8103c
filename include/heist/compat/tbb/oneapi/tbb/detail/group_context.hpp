// task_group_context: what is cancelled together, and the first exception of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <utility>  // exchange

#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

namespace tbb {

namespace detail {
struct group_access;
}

/// Threads: any may cancel. A bound context is cancelled with the one in which it was first used.
class task_group_context {
 public:
  enum kind_type { isolated, bound };
  enum traits_type : std::uintptr_t { default_traits = 0, fp_settings = 1, concurrent_wait = 2 };

  task_group_context(kind_type kind = bound, std::uintptr_t traits = default_traits) noexcept
      : is_bound_{kind == bound}, traits_{traits} {}
  task_group_context(task_group_context const&) = delete;
  task_group_context& operator=(task_group_context const&) = delete;

  /// False if it was cancelled before.
  bool cancel_group_execution() noexcept {
    return !cancelled_.exchange(true, std::memory_order_acq_rel);  // acq_rel: what cancels is seen by who asks
  }
  bool is_group_execution_cancelled() const noexcept {
    task_group_context const* c = this;
    do {
      if (c->cancelled_.load(std::memory_order_acquire)) return true;  // acquire: cancel_group_execution()
      c = c->parent_.load(std::memory_order_acquire);                  // acquire: bind()
    } while (c != nullptr);
    return false;
  }
  /// Not while something of the group runs.
  void reset() noexcept {
    exception_ = nullptr;
    has_exception_.store(false, std::memory_order_relaxed);  // relaxed: nothing of the group runs
    cancelled_.store(false, std::memory_order_relaxed);      // relaxed: as above
  }
  /// heist's tasks compute in the modes of their executor, or of the caller where the layer can pass them on.
  void capture_fp_settings() noexcept {}
  std::uintptr_t traits() const noexcept { return traits_; }

 private:
  friend struct detail::group_access;
  bool const is_bound_;
  std::uintptr_t const traits_;
  std::atomic<bool> cancelled_{false}, has_exception_{false};
  std::atomic<task_group_context*> parent_{nullptr};
  std::exception_ptr exception_;
};

namespace detail {

/// global_control: an exception of a task ends the program.
inline std::atomic<bool>& terminates_on_exception() noexcept {
  static std::atomic<bool> does{false};
  return does;
}

struct group_access {
  /// Before its first task: the group is cancelled with the caller's.
  static void bind(task_group_context& c) noexcept {
    task_group_context* const above = this_task().group;
    if (!c.is_bound_ || above == nullptr || above == &c) return;
    task_group_context* none = nullptr;
    c.parent_.compare_exchange_strong(none, above, std::memory_order_acq_rel,
                                      std::memory_order_acquire);  // acq_rel: as read
  }
  /// Keeps the exception in flight if it is the first, and cancels the group.
  static void fail(task_group_context& c) noexcept {
    if (terminates_on_exception().load(std::memory_order_relaxed)) std::terminate();  // relaxed: no data comes with it
    if (!c.has_exception_.exchange(true, std::memory_order_acq_rel))                  // acq_rel: one of them writes
      c.exception_ = std::current_exception();
    c.cancel_group_execution();
  }
  static bool has_failed(task_group_context const& c) noexcept {
    return c.has_exception_.load(std::memory_order_acquire);  // acquire: fail()
  }
  /// After all of the group's tasks: what it has kept.
  static std::exception_ptr take(task_group_context& c) noexcept {
    c.has_exception_.store(false, std::memory_order_relaxed);  // relaxed: nothing of the group runs
    return std::exchange(c.exception_, nullptr);
  }
  static void rethrow(task_group_context& c) {
    if (!has_failed(c)) return;
    std::exception_ptr const e = take(c);
    std::rethrow_exception(e);
  }
};

}  // namespace detail
}  // namespace tbb
