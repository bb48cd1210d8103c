// task_arena, and the arena of the calling task.
#pragma once

#include <functional>  // invoke
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/compat/tbb/oneapi/tbb/detail/arena.hpp"
#include "heist/compat/tbb/oneapi/tbb/info.h"
#include "heist/compat/tbb/oneapi/tbb/task_group.h"

namespace tbb {

/// Of a constructor that takes the caller's arena.
struct attach {};
class task_arena;

namespace detail {

arena& arena_of(task_arena& a);

/// Calls f() in the arena, and returns what it returns.
template <class F>
decltype(auto) call_in(arena& a, F&& f) {
  using result = decltype(f());
  if constexpr (std::is_void_v<result>) {
    a.enter(f);
  } else if constexpr (std::is_reference_v<result>) {
    std::remove_reference_t<result>* at = nullptr;
    a.enter([&] {
      result r = f();
      at = &r;
    });
    return static_cast<result>(*at);
  } else {
    std::optional<result> value;
    a.enter([&] { value.emplace(f()); });
    return result(std::move(*value));
  }
}

}  // namespace detail

/// Workers of its own for tasks that are started in it. Threads: any; initialize() and terminate() not at the same time as
/// others. With `reserved` slots one slot is for a thread that calls execute(); a second one waits for the workers. Priorities
/// have no effect.
class task_arena {
 public:
  static constexpr int automatic = -1, not_initialized = -2;
  enum class priority : int { low = 1, normal = 2, high = 3 };
  using constraints = tbb::info_constraints;
  using attach = tbb::attach;

  explicit task_arena(int max_concurrency = automatic, unsigned reserved = 1, priority = priority::normal)
      : slots_{max_concurrency}, reserved_{reserved} {}
  explicit task_arena(constraints const& c, unsigned reserved = 1, priority = priority::normal)
      : slots_{c.max_concurrency}, reserved_{reserved} {}
  task_arena(task_arena const& other) : slots_{other.slots_}, reserved_{other.reserved_} {}
  explicit task_arena(tbb::attach) { attach_to_callers(); }
  task_arena& operator=(task_arena const&) = delete;
  ~task_arena() { terminate(); }

  void initialize() {
    std::lock_guard const guard{lock_};
    if (in_ != nullptr) return;
    in_ = &detail::market::instance().lease(wanted(), reserved_ != 0);
    owns_ = true;
  }
  void initialize(int max_concurrency, unsigned reserved = 1, priority = priority::normal) {
    if (is_active()) return;
    slots_ = max_concurrency;
    reserved_ = reserved;
    initialize();
  }
  void initialize(constraints const& c, unsigned reserved = 1, priority p = priority::normal) {
    initialize(c.max_concurrency, reserved, p);
  }
  void initialize(tbb::attach) {
    if (!is_active()) attach_to_callers();
  }
  /// Tasks that were started in the arena still end.
  void terminate() {
    std::lock_guard const guard{lock_};
    if (in_ != nullptr && owns_) detail::market::instance().give_back(*in_);
    in_ = nullptr;
    owns_ = false;
  }
  bool is_active() const {
    std::lock_guard const guard{lock_};
    return in_ != nullptr;
  }
  int max_concurrency() const { return static_cast<int>(wanted()); }

  /// Calls f() in the arena, and returns what it returns.
  template <class F>
  auto execute(F&& f) -> decltype(f()) {
    return detail::call_in(arena(), f);
  }
  /// Starts f(), which must not throw.
  template <class F>
  void enqueue(F&& f) {
    arena().spawn(nullptr, [f = std::decay_t<F>(std::forward<F>(f))]() mutable { std::invoke(f); });
  }
  void enqueue(task_handle&& h) { detail::start(arena(), std::move(h)); }
  /// The group waits for it.
  template <class F>
  void enqueue(F&& f, task_group& group) {
    enqueue(group.defer(std::forward<F>(f)));
  }

  /// The layer's own: the executor behind it.
  heist::executor<HEIST_COMPAT_POLICY>& heist_executor() { return arena().workers(); }

 private:
  friend detail::arena& detail::arena_of(task_arena& a);
  std::size_t wanted() const {
    if (in_ != nullptr) return in_->slots();
    return slots_ > 0 ? static_cast<std::size_t>(slots_) : detail::market::default_concurrency();
  }
  void attach_to_callers() {
    if (detail::this_task().in == nullptr) return;
    in_ = detail::this_task().in;
  }
  detail::arena& arena() {
    initialize();
    return *in_;
  }

  mutable std::mutex lock_;
  int slots_ = automatic;
  unsigned reserved_ = 1;
  detail::arena* in_ = nullptr;
  bool owns_ = false;
};

namespace detail {
inline arena& arena_of(task_arena& a) {
  return a.arena();
}
}  // namespace detail

namespace this_task_arena {

/// The worker's number; not_initialized outside of all arenas.
inline int current_thread_index() {
  auto const worker = heist::current_worker();
  return detail::this_task().in == nullptr || !worker ? task_arena::not_initialized : static_cast<int>(*worker);
}
inline int max_concurrency() {
  return static_cast<int>(detail::current_arena().slots());
}

/// Calls f(). What waits in it parks: no other task runs on top of it.
template <class F>
auto isolate(F const& f) -> decltype(f()) {
  return f();
}
template <class F>
void enqueue(F&& f) {
  detail::current_arena().spawn(nullptr, [f = std::decay_t<F>(std::forward<F>(f))]() mutable { std::invoke(f); });
}
inline void enqueue(task_handle&& h) {
  detail::start(detail::current_arena(), std::move(h));
}
template <class F>
void enqueue(F&& f, task_group& group) {
  enqueue(group.defer(std::forward<F>(f)));
}

}  // namespace this_task_arena
}  // namespace tbb
