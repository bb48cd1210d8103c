// Tasks for one thread: the main thread of a window system, or the owner of a graphics context or of a library that
// is not thread-safe.
#pragma once

#include <cstddef>  // size_t
#include <exception>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/config.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/run_queue.hpp"
#include "heist/graph/run_end.hpp"

namespace heist {
namespace detail {

/// A task in the queue of a run_loop.
struct loop_task {
  /// Calls the function, and frees the task. `thrown` gets the exception of a posted task if it has none yet. Null: the
  /// task will never run, and is only freed.
  using act_function = void (*)(loop_task& self, std::exception_ptr* thrown) noexcept;

  act_function act;
  loop_task* next = nullptr;
};

/// The part of a run_loop that does not depend on its tasks.
class run_loop_base {
 public:
  run_loop_base() noexcept = default;
  run_loop_base(run_loop_base const&) = delete;
  run_loop_base& operator=(run_loop_base const&) = delete;

 protected:
  ~run_loop_base();

  void push(loop_task& task) noexcept { queue_.push(task); }
  std::size_t run_queued();
  std::size_t run_until_finished();
  void run_until_complete(completion& end);
  void finish_now() noexcept { queue_.finish(); }

 private:
  template <class IsOver>
  std::size_t run_while(IsOver is_over);

  run_queue<loop_task> queue_;
};

template <class F>
struct posted_loop_task final : loop_task {
  template <class G>
  explicit posted_loop_task(G&& g) : loop_task{&act_on}, function(std::forward<G>(g)) {}
  F function;

 private:
  static void act_on(loop_task& self, std::exception_ptr* thrown) noexcept {
    auto* const me = static_cast<posted_loop_task*>(&self);
    if (thrown != nullptr) {
      try {
        me->function();
      } catch (...) {
        if (!*thrown) *thrown = exception_of_task();
      }
    }
    delete me;
  }
};

/// The exception of a task whose run_loop is gone.
std::exception_ptr destroyed_loop_error();

template <class F, class R>
struct submitted_loop_task final : async_state<R>, loop_task {
  template <class G>
  submitted_loop_task(async_place const& at, G&& g)
      : async_state<R>{nullptr, &what_it_is, at}, loop_task{&act_on}, function(std::forward<G>(g)) {}
  callable_slot<F> function;

 private:
  static void act_on(loop_task& self, std::exception_ptr* thrown) noexcept {
    auto& me = static_cast<submitted_loop_task&>(self);
    if (thrown == nullptr) {
      me.fail_with(destroyed_loop_error());
    } else {
      try {
        me.result.fill([&]() -> decltype(auto) { return me.function.get()(); });
      } catch (...) {
        me.fail_with(exception_of_task());
      }
    }
    me.function.end();  // before any thread can know that it has ended
    me.finished.complete();
    me.release();
  }
  static constexpr async_operations operations_of_it{{&text_of_async, &wave_of_async},
                                                     &destroy_async<submitted_loop_task>};
  static constexpr described what_it_is{&operations_of_it};
};

}  // namespace detail

/// Tasks for one thread, first in, first out. Any thread or task adds them, and the thread that calls run(),
/// run_until() or poll() runs them. A task that waits for the future of one parks, as for any other future.
///
///     heist::run_loop main_thread;
///     auto run = ex.run(graph);           // its tasks call main_thread.submit(draw).get()
///     main_thread.run_until(run);
///
/// Threads  every member may be called by any thread, and by tasks of the loop. Where several threads run one loop,
///          each task runs in one of them. A thread that alone runs the loop waits by run_until(), not by get(): no
///          thread would run the task meanwhile.
/// Errors   the exception of a task of submit() reaches its future, and is lost if no get() fetches it. The call that
///          runs tasks of post() throws their first exception at its end; later exceptions of the same call are
///          dropped.
/// Promises a task that has not run when the loop is destroyed never runs, and its future gets stopped_error. The loop
///          must outlive the calls of its members.
/// Cost     an allocation and a spin_lock for each task. std::execution::run_loop has the same form, for senders.
class run_loop : detail::run_loop_base {
 public:
  run_loop() noexcept = default;

  /// Adds f(). Throws bad_alloc.
  template <class F>
  void post(F&& f) {
    using callable = std::decay_t<F>;
    static_assert(std::is_invocable_v<callable&>,
                  "heist: run_loop::post() takes a callable without arguments; fix it by a lambda that captures them.");
    push(*new detail::posted_loop_task<callable>(std::forward<F>(f)));
  }
  /// Adds f(), and returns a future of its result. then() of it needs an executor: use submit(heist::after(future), f)
  /// instead. Throws bad_alloc.
  template <class F>
  auto submit(F&& f) {
    using callable = std::decay_t<F>;
    static_assert(
        std::is_invocable_v<callable&>,
        "heist: run_loop::submit() takes a callable without arguments; fix it by a lambda that captures them.");
    using result = std::invoke_result_t<callable&>;
    auto* const task = detail::make_async_of_none<detail::submitted_loop_task<callable, result>>(std::forward<F>(f));
    future<result> made = detail::future_access::make<result>(*task);
    push(*task);
    return made;
  }

  /// Runs the tasks that are queued now, without waiting. Returns how many it ran.
  std::size_t poll() { return run_queued(); }
  /// Runs tasks until finish() has been called and none is queued. Between them the thread sleeps; a task of an
  /// executor that calls this parks. Returns how many it ran.
  std::size_t run() { return run_until_finished(); }
  /// Runs tasks until `handle` is ready: a future, a shared_future, or a run of a graph. Others stay queued.
  template <class T>
  void run_until(future<T> const& handle) {
    run_until_complete(detail::future_access::state(handle).finished);
  }
  template <class T>
  void run_until(shared_future<T> const& handle) {
    run_until_complete(detail::future_access::state(handle).finished);
  }
  void run_until(graph_run const& handle) { run_until_complete(detail::run_access::state(handle).finished); }
  /// Lets run() return when no task is queued, now and later.
  void finish() noexcept { finish_now(); }
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/async/run_loop.ipp"
#endif
