// The state that a task on its own shares with its handles and with the tasks that come after it.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>  // exception_ptr
#include <type_traits>
#include <utility>  // exchange, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/arrivals.hpp"
#include "heist/core/sync/begin_once.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

struct async_base;

/// Where a task is made.
struct async_place {
  core* scheduler;
  unsigned process;
  std::size_t bytes;  ///< of its block
};

/// The operations that differ by the type of a task.
struct async_operations : described_operations {
  void (*destroy)(async_base& self) noexcept;
  char const* (*name)(async_base const& self) noexcept = nullptr;  ///< null: it has none
  void (*route)(async_base& self) = nullptr;          ///< brings it to the place that was asked for; null: anywhere
  bool (*stop)(async_base& self) noexcept = nullptr;  ///< as its stop token would; null, false: it cannot be stopped
  bool begins_once = false;                           ///< its function asks async_base::begins()
};

/// The state that a task, its handles and the tasks that come after it share. The last of them frees it.
struct async_base : queued_runnable {
  // of `marks`, beside awaited_end::has_waker
  static constexpr std::uint8_t fetched = 2, waits = 4, inherits = 8;

  async_base(run_function function, described const* description, async_place const& at) noexcept
      : queued_runnable{{function, description}, nullptr},
        generation{at.process},
        scheduler{at.scheduler},
        bytes{static_cast<std::uint32_t>(at.bytes)} {}
  async_base(async_base const&) = delete;
  async_base& operator=(async_base const&) = delete;

  async_operations const& operations() const noexcept {
    return static_cast<async_operations const&>(*what->operations);
  }
  void retain() noexcept { owners.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  /// The last one destroys it, and with it objects of the user's, whose destructors may wait.
  void release() noexcept {
    // acquire, acq_rel: the last one sees the effects of all. One that is alone needs no exchange.
    if (owners.load(std::memory_order_acquire) == 1 || owners.fetch_sub(1, std::memory_order_acq_rel) == 1)
      operations().destroy(*this);
  }
  /// Its exception, which the caller passes on.
  std::exception_ptr pass_exception() noexcept {
    marks.fetch_or(fetched, std::memory_order_relaxed);  // relaxed: read by its last owner
    return exception;
  }
  /// Its exception, for the only owner.
  std::exception_ptr take_exception() noexcept { return std::exchange(exception, nullptr); }
  void fail_with(std::exception_ptr e) noexcept {
    exception = std::move(e);
    if (scheduler != nullptr) unobserved.refer(scheduler->unobserved());
  }

  /// By a worker that has taken it. False: another worker has begun it (expedite()).
  bool begins() noexcept {
    return entries.begins(owners.load(std::memory_order_acquire) == 1);  // acquire: the effects of other owners
  }

  /// By its own code, before that waits for the first time.
  void tell_that_it_waits() const noexcept {
    // relaxed: a fence follows when it is in line (fiber::after_checked_park)
    if ((marks.load(std::memory_order_relaxed) & waits) == 0) marks.fetch_or(waits, std::memory_order_relaxed);
  }
  /// May it wait for other tasks? It comes after them, or its code has waited before.
  bool may_wait() const noexcept {
    return links != 0 || (marks.load(std::memory_order_relaxed) & waits) != 0;  // relaxed: as above
  }

  os_env::atomic<std::uint32_t> owners{2};
  unsigned const generation;  ///< the process that the task runs in
  completion finished;
  core* const scheduler;  ///< the executor, which may be gone when the task has ended; null: of none
  std::exception_ptr exception;
  unobserved_reference unobserved;  ///< keeps the exception if no get() fetches it
  std::uint32_t const bytes;        ///< of its block
  arrivals awaited;                 ///< how many tasks that it comes after have not ended
  std::uint32_t links = 0;          ///< to the tasks that it comes after
  std::uint8_t wave = 0;            ///< the wave of its unit of work
  bool routed = false;              ///< goes where operations().route says
  mutable os_env::atomic<std::uint8_t> marks{0};
  begin_once<> entries;
  std::uint8_t second_wave = 0;  ///< the wave of the second entry's unit of work

 protected:
  ~async_base() {
    // relaxed: the last owner; release() orders it
    if (exception && (marks.load(std::memory_order_relaxed) & fetched) == 0) unobserved.keep(std::move(exception));
  }
};

template <class R>
struct async_state : async_base {
  /// Is no code of a user's run when the result is destroyed?
  static constexpr bool ends_quietly =
      std::is_void_v<R> || std::is_reference_v<R> || std::is_trivially_destructible_v<R>;
  using async_base::async_base;
  result_slot<R> result;
};

/// Lets a task begin that has been counted already. A worker of its executor that completes this may run it next.
struct task_waiter : completion_waiter {
  task_waiter() noexcept : completion_waiter{&wake_up} {}

  core* scheduler = nullptr;
  queued_runnable* task = nullptr;

  static bool is(completion_waiter const& w) noexcept { return w.wake == &wake_up; }

 private:
  static void wake_up(completion_waiter& self) noexcept;
};

/// Waits for one task on behalf of another; lies in that one's block. It owns a share of a task whose value is wanted. Of
/// one that gives only its order it gets a share if that has failed, and otherwise forgets it. So an edge without a value
/// costs no counting.
struct dependency : completion_waiter {
  async_base* of;  ///< the task that waits
  async_base* on;  ///< the task that is waited for; null: it has ended, and nothing is wanted of it
  dependency(async_base& waiting, async_base* awaited, bool needs_value) noexcept;
  bool needs_value() const noexcept { return wake == &wake_up; }
  /// Is it one?
  static bool is(completion_waiter const& w) noexcept { return w.wake == &wake_up || w.wake == &wake_for_order; }
  /// The task that is waited for has ended, and is still there.
  void settle() noexcept {
    if (needs_value()) return;
    if (on->exception) [[unlikely]] {
      on->retain();
    } else {
      on = nullptr;
    }
  }

 private:
  static void wake_up(completion_waiter& self) noexcept;
  static void wake_for_order(completion_waiter& self) noexcept;
};

}  // namespace heist::detail
