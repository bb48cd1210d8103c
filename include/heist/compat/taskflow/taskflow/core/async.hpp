// Asyncs: tasks of their own, with and without predecessors. Executors, runtimes and task groups start them.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>  // exception_ptr
#include <future>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/compat/taskflow/taskflow/core/async_task.hpp"
#include "heist/compat/taskflow/taskflow/core/callable.hpp"

namespace tf {

class Executor;

struct TaskParams {
  std::string name;
  void* data = nullptr;
};
struct DefaultTaskParams {};

template <class P>
concept TaskParamsLike = std::same_as<std::decay_t<P>, TaskParams> ||
    std::same_as<std::decay_t<P>, DefaultTaskParams> || std::convertible_to<P, std::string_view>;
template <class P>
inline constexpr bool is_task_params_v = TaskParamsLike<P>;

namespace detail {

/// The executor and the parent of an async.
struct async_scheduler {
  Executor* executor;
  parent* above;
  Topology* run;
};

/// A function with a result: its promise gets the value, or the exception that it throws.
template <class F, class R>
struct promised_body {
  F f;
  std::promise<R> promise = {};
  void call(invocation&) {
    try {
      if constexpr (std::is_void_v<R>) {
        f();
        promise.set_value();
      } else {
        promise.set_value(f());
      }
    } catch (...) {
      promise.set_exception(std::current_exception());
    }
  }
  auto future() { return promise.get_future(); }
};
/// The same with a runtime: ready when all its children have ended.
template <class F>
struct promised_runtime_body : runtime_body<F> {
  template <class G>
  explicit promised_runtime_body(G&& g) : runtime_body<F>{std::forward<G>(g)} {}
  std::promise<void> promise = {};
  void ended(std::exception_ptr const& e) { e ? promise.set_exception(e) : promise.set_value(); }
  auto future() { return promise.get_future(); }
};

template <class P>
void name_async(node& n, P&& params) {
  using type = std::decay_t<P>;
  if constexpr (std::is_same_v<type, TaskParams>) {
    n.with().name = params.name;
    n.with().data = params.data;
  } else if constexpr (!std::is_same_v<type, DefaultTaskParams>) {
    n.with().name = std::string_view{params};
  }
}

/// A new async that counts as a child of its home. The caller schedules it.
template <class P>
node* make_async(async_scheduler const& at, P&& params);
void schedule_async(Executor& on, node& n);
/// `n` comes after `before`.
inline void follow(node& n, AsyncTask const& before) {
  node* const first = before.node();
  if (first == nullptr) return;
  n.missing.fetch_add(1, std::memory_order_relaxed);  // relaxed: it cannot begin yet
  auto* const mine = new follower{&n, nullptr};
  mine->next = first->followers.load(std::memory_order_acquire);  // acquire, as below: what a task that has ended did
  while (mine->next != node::closed()) {
    // acq_rel: end_async() sees the follower; acquire: as above
    if (first->followers.compare_exchange_weak(mine->next, mine, std::memory_order_acq_rel, std::memory_order_acquire))
      return;
  }
  delete mine;
  n.missing.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
}

/// An async has ended with its children.
template <class Offer>
void end_async(node& n, Offer&& offer) {
  n.does.ended(n.exception);
  n.does.reset();                                       // its captures may be handles of this and other asyncs
  if (n.owners.load(std::memory_order_relaxed) == 0) {  // relaxed: an async without handles stays one
    delete &n;
    return;
  }
  // acq_rel: releases what the task has done; acquires the followers
  follower* f = n.followers.exchange(node::closed(), std::memory_order_acq_rel);
  while (f != nullptr) {
    follower* const after = f->next;
    if (f->task->missing.fetch_sub(1, std::memory_order_acq_rel) == 1) offer(*f->task);  // acq_rel: of all predecessors
    delete f;
    f = after;
  }
  AsyncTask::release(&n);
}

template <class F>
auto promise_work(node& n, F&& f) {
  using function = std::decay_t<F>;
  if constexpr (RuntimeTaskLike<F>) {
    n.flags.fetch_or(parent::anchor, std::memory_order_relaxed);  // relaxed: it is new
    return n.does.emplace<promised_runtime_body<function>>(std::forward<F>(f)).future();
  } else {
    static_assert(
        std::invocable<F>,
        "heist: the callable of async() takes no argument, or a tf::Runtime& and returns nothing; fix the callable.");
    return n.does.emplace<promised_body<function, std::invoke_result_t<F>>>(std::forward<F>(f)).future();
  }
}
template <class F>
void silent_work(node& n, F&& f) {
  static_assert(
      StaticTaskLike<F> || RuntimeTaskLike<F>,
      "heist: the callable of silent_async() takes no argument or a tf::Runtime&, and returns nothing; fix it by "
      "async() for a result.");
  give_work(n, std::forward<F>(f));
}

inline AsyncTask const& handle_in(AsyncTask const& t) {
  return t;
}
inline AsyncTask const& handle_in(AsyncTask const* t) {
  return *t;
}

/// The functions that start asyncs. Self has home().
template <class Self>
class async_functions {
 public:
  /// Runs `f()` and returns the std::future of its result; or `f(runtime)`.
  template <class F>
  auto async(F&& f) {
    return async(DefaultTaskParams{}, std::forward<F>(f));
  }
  template <TaskParamsLike P, class F>
  auto async(P&& params, F&& f) {
    async_scheduler const at = self().scheduler();
    node* const n = make_async(at, std::forward<P>(params));
    auto future = promise_work(*n, std::forward<F>(f));
    schedule_async(*at.executor, *n);
    return future;
  }
  /// The same without a future.
  template <class F>
  void silent_async(F&& f) {
    silent_async(DefaultTaskParams{}, std::forward<F>(f));
  }
  template <TaskParamsLike P, class F>
  void silent_async(P&& params, F&& f) {
    async_scheduler const at = self().scheduler();
    node* const n = make_async(at, std::forward<P>(params));
    silent_work(*n, std::forward<F>(f));
    schedule_async(*at.executor, *n);
  }

  /// The same after other asyncs: returns the handle and the future.
  template <class F, AsyncTaskHandleLike... Tasks>
  auto dependent_async(F&& f, Tasks&&... after) {
    return dependent_async(DefaultTaskParams{}, std::forward<F>(f), std::forward<Tasks>(after)...);
  }
  template <TaskParamsLike P, class F, AsyncTaskHandleLike... Tasks>
  auto dependent_async(P&& params, F&& f, Tasks&&... after) {
    AsyncTask const* const all[sizeof...(Tasks) + 1] = {&after..., nullptr};
    return dependent_async(std::forward<P>(params), std::forward<F>(f), all, all + sizeof...(Tasks));
  }
  template <class F, std::input_iterator I>
  requires(!TaskParamsLike<F>) auto dependent_async(F&& f, I first, I last) {
    return dependent_async(DefaultTaskParams{}, std::forward<F>(f), first, last);
  }
  template <TaskParamsLike P, class F, std::input_iterator I>
  auto dependent_async(P&& params, F&& f, I first, I last) {
    async_scheduler const at = self().scheduler();
    AsyncTask made{make_async(at, std::forward<P>(params))};
    auto future = promise_work(*made.node(), std::forward<F>(f));
    begin_after(at, made, first, last);
    return std::pair{std::move(made), std::move(future)};
  }
  template <class F, AsyncTaskHandleLike... Tasks>
  AsyncTask silent_dependent_async(F&& f, Tasks&&... after) {
    return silent_dependent_async(DefaultTaskParams{}, std::forward<F>(f), std::forward<Tasks>(after)...);
  }
  template <TaskParamsLike P, class F, AsyncTaskHandleLike... Tasks>
  AsyncTask silent_dependent_async(P&& params, F&& f, Tasks&&... after) {
    AsyncTask const* const all[sizeof...(Tasks) + 1] = {&after..., nullptr};
    return silent_dependent_async(std::forward<P>(params), std::forward<F>(f), all, all + sizeof...(Tasks));
  }
  template <class F, std::input_iterator I>
  requires(!TaskParamsLike<F>) AsyncTask silent_dependent_async(F&& f, I first, I last) {
    return silent_dependent_async(DefaultTaskParams{}, std::forward<F>(f), first, last);
  }
  template <TaskParamsLike P, class F, std::input_iterator I>
  AsyncTask silent_dependent_async(P&& params, F&& f, I first, I last) {
    async_scheduler const at = self().scheduler();
    AsyncTask made{make_async(at, std::forward<P>(params))};
    silent_work(*made.node(), std::forward<F>(f));
    begin_after(at, made, first, last);
    return made;
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  template <class I>
  static void begin_after(async_scheduler const& at, AsyncTask const& made, I first, I last) {
    node& n = *made.node();
    // no other thread knows the task yet
    n.owners.fetch_add(1, std::memory_order_relaxed);  // relaxed: the executor
    n.missing.store(1, std::memory_order_relaxed);     // relaxed: this call
    for (; first != last; ++first) follow(n, handle_in(*first));
    if (n.missing.fetch_sub(1, std::memory_order_acq_rel) == 1)
      schedule_async(*at.executor, n);  // acq_rel: as end_async
  }
};

}  // namespace detail
}  // namespace tf
