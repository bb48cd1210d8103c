// How a coroutine resumes after an await: as a task of its own, on a worker (README.md).
#pragma once

#include <coroutine>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/circular_wait.hpp"
#include "heist/core/executor/pooled.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/memory/block_pool.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/scheduler/worker.hpp"
#include "heist/core/sync/arrivals.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

/// The task that waits for a coroutine by sync_wait, and so for all coroutines that this one awaits.
struct task_of_coroutine {
  completion const* end;             ///< null: there is no task, or its end is not known
  interrupt_state const* interrupt;  ///< null: nothing can interrupt it
  interrupt_state const* resumed;    ///< of code that resumes: `interrupt`, or a part of it without its resume_rule
};
/// The calling task. `part`: for task_of_coroutine::resumed; lives as long as the coroutine.
task_of_coroutine task_that_waits(interrupt_state& part) noexcept;
/// The common state of heist's coroutines.
struct coroutine_base {
  core* scheduler = nullptr;              ///< resumes it after an await; null: the awaited object's executor does
  task_of_coroutine const* of = nullptr;  ///< null: no sync_wait() waits for it
};

struct resume_item;

/// The state of a coroutine that other coroutines await.
struct awaited_coroutine : coroutine_base {
  std::coroutine_handle<> continuation;  ///< goes on after it; null: it is one of a coroutine_group
  void* returns_to = nullptr;            ///< the core where `continuation` resumes (null: anywhere), or the group
  resume_item* next_member;              ///< in a coroutine_group, which sets it: of the member after it, or null
  std::exception_ptr exception;
};

/// Where a coroutine with such a promise wants to resume; null: anywhere.
template <class Promise>
core* scheduler_of_promise(Promise& p) noexcept {
  if constexpr (std::is_base_of_v<coroutine_base, Promise>) {
    return p.scheduler;
  } else {
    return nullptr;
  }
}
/// The task that waits for a coroutine with such a promise; null: not known.
template <class Promise>
task_of_coroutine const* task_of_promise(Promise& p) noexcept {
  if constexpr (std::is_base_of_v<coroutine_base, Promise>) {
    return p.of;
  } else {
    return nullptr;
  }
}

/// Resumes a coroutine. Where a transfer is no jump (transfer_is_jump()), it then resumes the coroutine to which that
/// one transfers the thread, and so on. Each has returned before the next resumes, so the stack does not grow.
struct transfer_loop {
  static constexpr unsigned no_unit = ~0u;

  std::coroutine_handle<> running;  ///< the coroutine that it has resumed
  std::coroutine_handle<> next;     ///< to which that has transferred the thread; null: to none
  unsigned unit;  ///< the wave of the unit of work that is this loop; no_unit: other code has begun it

  /// `place`: where the calling fiber, or the thread outside, keeps its innermost loop.
  static void resume(transfer_loop*& place, std::coroutine_handle<> first, unsigned unit = no_unit);
  static void resume_here(std::coroutine_handle<> first) { resume(place_here(), first); }
  /// Returns the handle by which `from` transfers the thread to `to`. If this loop has resumed `from`, it will resume
  /// `to`: nothing. Otherwise `to`: other code than heist's has resumed `from`, and would not resume `to`.
  static std::coroutine_handle<> leave(std::coroutine_handle<> from, std::coroutine_handle<> to) noexcept;

 private:
  static transfer_loop*& place_here() noexcept;
};

/// The result of `await_suspend` of `from` to transfer the thread to `to`. For code that is compiled with the coroutine,
/// at its level of optimisation: never in a HEIST_BODY.
HEIST_ALWAYS_INLINE std::coroutine_handle<> transfer(std::coroutine_handle<> from,
                                                     std::coroutine_handle<> to) noexcept {
  return transfer_is_jump() ? to : transfer_loop::leave(from, to);
}

/// A coroutine that resumes as a task: a unit of work of its own. Lies in the coroutine's frame while that is
/// suspended.
struct resume_item : queued_runnable {
  explicit resume_item(std::coroutine_handle<> h = {}, interrupt_state const* of = nullptr) noexcept;
  std::coroutine_handle<> handle;
  interrupt_state const* interrupt;  ///< of the task that waits for the coroutine
  unsigned wave = 0;

  static runnable* run_it(runnable& task, fiber& self);
};

/// Coroutines that are awaited together: the first runs at once, the others as tasks. Lies in the frame of the awaiting
/// one, which the last to end resumes.
struct coroutine_group {
  struct member {
    std::coroutine_handle<> handle;
    awaited_coroutine* promise;
    void* room;  ///< for a resume_item
  };
  /// Submits `count` coroutines, 1 or more, for `awaiting`, which wants to resume on `home`, if that is not null. The
  /// caller resumes the first. Throws executor_error, and submits none, where there is no executor, and the second time.
  void begin(std::coroutine_handle<> awaiting, core* home, task_of_coroutine const* of, member const* all,
             std::uint32_t count);

  /// `self` has ended. If the calling worker would run the next member next, that begins now, as a part of the same unit.
  /// Returns it then, and null otherwise.
  std::coroutine_handle<> begin_next(awaited_coroutine const& self) noexcept;

  arrivals left;
  unsigned wave = transfer_loop::no_unit;  ///< that all members' units have; no_unit: they may differ
  std::coroutine_handle<> continuation;
  core* scheduler = nullptr;  ///< of `continuation`; null: it resumes anywhere
};

/// The end of a coroutine that is one of a group, or has moved to another executor. `room`: for a resume_item. Returns
/// the coroutine to which it transfers the thread; null: to none.
std::coroutine_handle<> end_elsewhere(awaited_coroutine& self, void* room) noexcept;

/// Awaits a completion. Destroy it before the objects that it refers to.
class completion_awaiter : task_waiter {
 public:
  /// Suspends the coroutine, part of `of` (null: of no task), until `c` is complete; then it resumes on a worker of
  /// `on`.
  void suspend(completion& c, core& on, std::coroutine_handle<> h, task_of_coroutine const* of);
  /// Also hands a stop of `of` on to `awaited` (null: a run), of which `c` is the end. Throws executor_error if the
  /// coroutine would wait for itself.
  void suspend(completion& c, core& on, std::coroutine_handle<> h, task_of_coroutine const* of,
               async_base const* awaited, stop_target const& to);
  /// Called first when the coroutine resumes: no stop is handed on any more.
  void resumed() noexcept { stop_.reset(); }

 private:
  void begin(core& on, std::coroutine_handle<> h, task_of_coroutine const* of);
  static void count(completion_waiter& self) noexcept;

  resume_item item_;
  unique_ptr<propagated_stop> stop_;  ///< null: no stop is propagated
};

/// Lets the coroutine resume on `scheduler`, as part of `of`. Throws executor_error in a child of fork(), and where the
/// executor ends.
void resume_as_task(resume_item& item, core& scheduler, std::coroutine_handle<> h, task_of_coroutine const* of);
/// Is the calling thread a worker of it?
bool runs_on(core const& scheduler) noexcept;

/// Memory of a frame where the calling worker's pool has none at once.
HEIST_RARE void* allocate_frame_elsewhere(std::size_t bytes);

/// Frames come from the pools of workers. The compiler knows `bytes` where this is inlined, so little code is left.
HEIST_ALWAYS_INLINE void* allocate_frame(std::size_t bytes) {
  worker* const w = block_pool::fits(bytes, 1) ? this_worker() : nullptr;  // kept: asked for its pool, at once
  void* const kept = w != nullptr ? w->blocks.take_kept(bytes) : nullptr;
  return kept != nullptr ? kept : allocate_frame_elsewhere(bytes);
}

[[noreturn]] void reject_second_await();
[[noreturn]] void reject_await_outside();
[[noreturn]] void reject_event_without_value(std::string const& name);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/coroutine/resumption.ipp"
#endif
