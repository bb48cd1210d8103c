// Tasks on their own: the state that a task shares with its handles, and how its end makes ready its successors.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>  // exception_ptr
#include <memory>     // destroy_at
#include <new>
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>  // exchange, forward, in_place, move

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/executor/async_base.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/pooled.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// A task that has been counted as a unit of work can run: brings it where it is to run. Any thread.
void make_ready(async_base& task) noexcept;
/// Lets the task begin before other tasks that wait, if it has not begun: a second entry, in front, stands for it.
void raise_priority(async_base& task);
/// As the stop of its token. Throws executor_error if it cannot be stopped.
void request_stop(async_base& task);
/// By the entry that comes second.
runnable* end_second_entry(async_base& task, fiber& self) noexcept;
/// The task has ended, on fiber `self`: notifies every waiter. Returns the waiter that its worker runs next, if one can
/// run here.
runnable* complete_async(async_base& task, fiber& self) noexcept;

template <class T>
void destroy_async(async_base& self) noexcept {
  T* const task = static_cast<T*>(&self);
  std::size_t const bytes = self.bytes;
  std::destroy_at(task);
  free_shared_block(task, bytes);
}

/// One that belongs to no executor.
template <class T, class... Args>
T* make_async_of_none(Args&&... args) {
  static_assert(alignof(T) <= alignof(std::max_align_t),
                "heist: a task's callable, or its result, is aligned more strictly than operator new does by itself; "
                "fix it by capturing, or returning, a std::unique_ptr to it.");
  void* const block = ::operator new(block_pool::fits(sizeof(T), 1) ? block_pool::rounded(sizeof(T)) : sizeof(T));
  try {
    return ::new (block) T(async_place{nullptr, os_env::process(), sizeof(T)}, std::forward<Args>(args)...);
  } catch (...) {
    ::operator delete(block);
    throw;
  }
}

/// A new T at the begin of a shared block, which is freed if this throws. T's constructor gets its place first.
template <class T, class... Args>
T* make_async_in(void* block, core& scheduler, std::size_t bytes, Args&&... args) {
  static_assert(alignof(T) <= alignof(std::max_align_t),
                "heist: a task's callable, or its result, is aligned more strictly than operator new does by itself; "
                "fix it by capturing, or returning, a std::unique_ptr to it.");
  try {
    return ::new (block) T(async_place{&scheduler, scheduler.generation(), bytes}, std::forward<Args>(args)...);
  } catch (...) {
    free_shared_block(block, bytes);
    throw;
  }
}
/// A new T in a block with room for `more` bytes behind it.
template <class T, class... Args>
T* make_async(core& scheduler, std::size_t more, Args&&... args) {
  std::size_t const bytes = sizeof(T) + more;
  return make_async_in<T>(allocate_shared_block(scheduler, bytes), scheduler, bytes, std::forward<Args>(args)...);
}

task_view view_of_posted(runnable const& self) noexcept;
task_view view_of_async(runnable const& self) noexcept;
unsigned wave_of_async(runnable const& self) noexcept;
completion const* end_of_async(runnable const& self) noexcept;
template <unsigned Wave>
unsigned posted_epoch(runnable const&) noexcept {
  return Wave;
}
bool text_of_posted(runnable const& self, task_view& view) noexcept;
/// A task with a future tells its end before its future is ready.
bool text_of_async(runnable const& self, task_view& view) noexcept;
static_assert(work_count<>::both == 2);
inline constexpr described_operations posted_operations[3]{
    {&text_of_posted, &posted_epoch<0>}, {&text_of_posted, &posted_epoch<1>}, {&text_of_posted, &posted_epoch<2>}};
/// The descriptions of posted tasks, by the wave that they belong to (work_count).
inline constexpr described posted_what[3]{{&posted_operations[0]}, {&posted_operations[1]}, {&posted_operations[2]}};

/// Hands a posted task to `scheduler`, as a unit of work of its own.
void submit_posted(core& scheduler, queued_runnable& task);
/// The same of one with a future.
void submit_async(core& scheduler, async_base& task);
/// As above. If it throws, the task is destroyed without having run.
template <class Task>
void submit_or_destroy(core& scheduler, Task& task) {
  try {
    submit_async(scheduler, task);
  } catch (...) {
    task.forget_pending();
    task.operations().destroy(task);
    throw;
  }
}

/// The task that the calling code belongs to, or on top of which a join runs it; null on a thread that runs none.
runnable const* caller_task() noexcept;
/// Throws if the calling code is the task itself, or a join of it runs the code on top of it: it could only wait for
/// ever.
void reject_own_future(runnable const& task);

/// A task without a token has the interrupt_state of its fiber: none, or that of an inherited_stop.
struct no_stop {
  static constexpr bool has_route = false;
  static constexpr interrupt_state* interrupt() noexcept { return nullptr; }
  static constexpr bool stopped() noexcept { return false; }
};
/// The part of a task that its stop_token interrupts.
class stop_state {
 public:
  static constexpr bool has_route = false;
  explicit stop_state(std::stop_token&& token) : callback_{std::move(token), set{&state_}} {}
  interrupt_state* interrupt() noexcept { return &state_; }
  void request() noexcept { state_.set(by_token); }
  /// Is the task to be skipped? An inherited stop does not skip it: a task without a token is not skipped either.
  bool stopped() const noexcept {
    return (state_.why.load(std::memory_order_relaxed) & by_token) != 0;  // relaxed: advice
  }
  static constexpr std::uint32_t by_token = 1, inherited = 2;

 private:
  struct set {
    interrupt_state* state;
    void operator()() const noexcept { state->set(by_token); }
  };
  interrupt_state state_;
  std::stop_callback<set> callback_;
};

std::exception_ptr stopped_before_start();

/// The interrupt_state of the calling task. Null if nothing can interrupt it, and outside of tasks.
interrupt_state const* interrupt_of_caller() noexcept;

/// The stop of a task that another task submits. While the submitting task waits for it, that task's stop is handed on.
/// Lies at the end of the task's block.
///
/// Threads  add(): the submitting thread, before it submits; unlink(): the task; other members: every thread that
///          shares the task.
struct inherited_stop {
  /// `origin`: the interrupt_state of the submitting task. `own`: of a task with a token; null: it has none. `first`: of the
  /// links of a task that comes after others. The objects behind these pointers stay until unlink().
  static void add(async_base& task, interrupt_state const* origin, interrupt_state* own = nullptr,
                  dependency* first = nullptr) noexcept;
  /// Null: it has none.
  static inherited_stop* of(async_base& task) noexcept;
  static inherited_stop* place(async_base& task) noexcept {
    return reinterpret_cast<inherited_stop*>(reinterpret_cast<char*>(&task) + task.bytes - sizeof(inherited_stop));
  }
  /// Stops the task. Stops those that it comes after, too, if they are of the same origin.
  static void stop(async_base& task) noexcept;
  /// To be called before the task gives up its shares in its predecessors.
  static void unlink(async_base& task) noexcept {
    if (inherited_stop* const its = of(task); its != nullptr) [[unlikely]]
      its->forget_links();
  }
  HEIST_RARE void forget_links() noexcept;
  static runnable* run(runnable& task, fiber& self);
  static void destroy(async_base& task) noexcept;

  runnable::run_function work;  ///< the task's own function
  described const* before;      ///< as above
  async_operations operations;
  described what;
  async_base& task;
  stop_origin origin;
  interrupt_state* own;
  dependency* first;                       ///< null: it comes after nothing, or has given up its shares; under the lock
  spin_lock<> lock;                        ///< for a few loads
  inherited_stop* next = nullptr;          ///< the list of tasks that a stop has still to look at
  os_env::atomic<bool> is_stopped{false};  ///< a stop has found it
  interrupt_state state;                   ///< unused if it has its own
};
/// The interrupt_state of the task that runs on `w`, the calling thread. Null if nothing can interrupt it.
inline interrupt_state const* interrupt_on(worker const& w) noexcept {
  fiber const& self = *w.current.load(std::memory_order_relaxed);  // relaxed: its own
  if (self.interrupt != nullptr || self.stolen != nullptr) return self.interrupt;
  runnable const* const task = self.running.load(std::memory_order_relaxed);  // relaxed: written by this thread
  if (task == nullptr || task->what == nullptr || task->what->operations->interrupt == nullptr) return nullptr;
  return task->what->operations->interrupt(*task);
}
/// allocate_shared_block(), seldom called.
void* allocate_inheriting(core& scheduler, std::size_t bytes);

/// Makes a task that the calling code submits to `scheduler`. It inherits the stop of the calling task.
template <class T, class... Args>
T* make_submitted(core& scheduler, Args&&... args) {
  worker* const w = this_worker();  // kept: no code of a user's runs until there is a block
  interrupt_state const* const origin = w == nullptr ? nullptr : interrupt_on(*w);
  std::size_t bytes = sizeof(T);
  void* block = nullptr;
  if (origin != nullptr) [[unlikely]] {
    bytes += sizeof(inherited_stop);
    block = allocate_inheriting(scheduler, bytes);
  } else if constexpr (block_pool::fits(sizeof(T), 1)) {
    block = scheduler.allocate_block_on(w, sizeof(T));
  } else {
    block = allocate_shared_block(scheduler, bytes);
  }
  T* const task = make_async_in<T>(block, scheduler, bytes, std::forward<Args>(args)...);
  if (origin != nullptr) [[unlikely]]
    inherited_stop::add(*task, origin, task->extra.interrupt());
  return task;
}

/// Of a task that `self` begins: its own, or the inherited one.
template <class Task>
interrupt_state const* interrupt_of(Task& task, fiber const& self) noexcept {
  interrupt_state const* const own = task.extra.interrupt();
  return own == nullptr ? self.interrupt : own;
}

/// Stands for interrupted_by where the fiber's interrupt stays as it is.
struct as_it_is {
  as_it_is(fiber&, interrupt_state const*) noexcept {}
};

/// Runs the work of a task that has a future, and ends it: calls `work()` if the task has not been stopped, and if
/// `error_text()` has not let it fail because of a predecessor. `forget()` then destroys the task's captures.
template <class Task, class ErrorText, class Work, class Forget>
runnable* run_async(Task& task, fiber& self, interrupt_state const* interrupt, ErrorText&& error_text, Work&& work,
                    Forget&& forget) {
  self.worker->report_pending_count();
  task.finished.prefetch();
  if (self.scheduler.on_task != nullptr) [[unlikely]]
    self.scheduler.tell_begin(*self.worker, view_of_async(task));
  if (task.extra.stopped()) [[unlikely]] {
    task.exception = stopped_before_start();  // a caller that drops its handle knows
  } else if (!error_text()) {
    using extra = std::remove_cvref_t<decltype(task.extra)>;
    std::conditional_t<std::is_same_v<extra, no_stop>, as_it_is, interrupted_by> const stop{self, interrupt};
    try {
      work();
    } catch (...) {
      task.fail_with(exception_of_task());
    }
  }
  // This precedes complete_async(), which lets other threads see the end.
  if constexpr (requires { task.extra.end(); }) task.extra.end();
  forget();
  if (self.scheduler.on_task != nullptr) [[unlikely]]
    self.scheduler.tell_end(*self.worker, view_of_async(task));
  unsigned const wave = task.wave;
  runnable* next = complete_async(task, self);
  // A destructor in release() may wait for the task that runs next.
  if (next != nullptr && (!Task::ends_quietly || task.exception)) {
    self.scheduler.push(*self.worker, *static_cast<queued_runnable*>(std::exchange(next, nullptr)));
  }
  task.release();
  core::ended(*self.worker, wave);
  return next;
}

template <class Task, class Extra>
constexpr async_operations async_operations_of() noexcept {
  async_operations o{{&text_of_async, &wave_of_async, &end_of_async}, &destroy_async<Task>};
  if constexpr (Extra::has_route) {
    o.name = [](async_base const& self) noexcept { return static_cast<Task const&>(self).extra.name(); };
    o.route = [](async_base& self) { static_cast<Task&>(self).extra.route(self); };
    if constexpr (requires(Extra & extra) { extra.request_stop(); })
      o.stop = [](async_base& self) noexcept { return static_cast<Task&>(self).extra.request_stop(); };
  }
  return o;
}

/// A task that comes after nothing. `Extra`: no_stop, stop_state, or the part of a heist::with.
template <class Context, class F, class R, class Extra>
struct async_task final : async_state<R> {
  template <class G, class... Args>
  async_task(async_place const& at, G&& g, Args&&... args)
      : async_state<R>{&run, &what_it_is, at}, function(std::forward<G>(g)), extra(std::forward<Args>(args)...) {
    if constexpr (Extra::has_route) this->routed = extra.is_routed();
  }

  static runnable* run(runnable& r, fiber& self) {
    auto& task = static_cast<async_task&>(r);
    if (!task.begins()) [[unlikely]]
      return end_second_entry(task, self);
    interrupt_state const* const interrupt = interrupt_of(task, self);
    return run_async(
        task, self, interrupt, [] { return false; },
        [&] {
          task.result.fill(
              [&]() -> decltype(auto) { return call_with_context<Context>(task.function.get(), self, interrupt); });
        },
        [&task] { task.function.end(); });
  }
  /// Of one that will never run.
  void forget_pending() noexcept { function.end(); }

  callable_slot<F> function;
  [[no_unique_address]] Extra extra;

 private:
  static constexpr async_operations operations_of_it = [] {
    async_operations o = async_operations_of<async_task, Extra>();
    o.begins_once = true;
    return o;
  }();
  static constexpr described what_it_is{&operations_of_it};
};

/// A task without a handle: no caller waits for it.
template <class Context, class F>
struct posted_task final : queued_runnable {
  template <class G>
  explicit posted_task(G&& g) : queued_runnable{{&run, &posted_what[0]}, nullptr}, function(std::forward<G>(g)) {}

  template <class G>
  static posted_task* make(core& scheduler, G&& g) {
    if constexpr (!pooled<posted_task>) {
      return new posted_task(std::forward<G>(g));
    } else {
      void* const block = scheduler.allocate_block(sizeof(posted_task));
      try {
        return ::new (block) posted_task(std::forward<G>(g));
      } catch (...) {
        ::operator delete(block);
        throw;
      }
    }
  }

  static runnable* run(runnable& r, fiber& self) {
    auto* const task = static_cast<posted_task*>(&r);
    self.worker->report_pending_count();
    try {
      call_with_context<Context>(task->function, self, nullptr);
    } catch (...) {
      self.scheduler.unobserved().keep(exception_of_task());
    }
    unsigned const wave = task->what->operations->wave(*task);
    destroy_pooled(self, task);
    core::ended(*self.worker, wave);
    return nullptr;
  }

  F function;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/executor/async.ipp"
#endif
