// Coroutines as tasks: an await parks no fiber.
#pragma once

#include <coroutine>
#include <cstddef>  // byte, size_t
#include <exception>
#include <new>
#include <type_traits>
#include <utility>  // exchange, forward, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/scheduler/wait.hpp"
#include "heist/fwd.hpp"
#include "heist/parallel/coroutine/resumption.hpp"

namespace heist {

template <class T>
class coroutine;

namespace detail {

template <class T>
struct coroutine_promise_base : awaited_coroutine {
  static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
  static void operator delete(void* frame, std::size_t bytes) noexcept { free_block_inline(frame, bytes); }

  std::suspend_always initial_suspend() const noexcept { return {}; }
  /// Goes on with the awaiting coroutine, in place of this one.
  struct final_awaiter {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    HEIST_ALWAYS_INLINE std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
      auto& self = h.promise();
      std::coroutine_handle<> next = self.continuation;
      if (static_cast<void*>(self.scheduler) != self.returns_to) {
        next = end_elsewhere(self, &self.room);
        if (!next) return std::noop_coroutine();
      }
      return transfer(h, next);
    }
    void await_resume() const noexcept {}
  };
  final_awaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { exception = exception_of_task(); }

  result_slot<T> result;
  /// For the resumption of a member of a group, or of the coroutine that goes on after it, which few need.
  alignas(resume_item) std::byte room[sizeof(resume_item)];
};

template <class T>
struct coroutine_promise final : coroutine_promise_base<T> {
  coroutine<T> get_return_object() noexcept;
  /// The value is a T if it has no type of its own (co_return {1, 2}).
  template <class U = T>
  requires std::is_constructible_v<T, U>
  void return_value(U&& value) {
    this->result.fill([&]() -> decltype(auto) { return std::forward<U>(value); });
  }
};
template <>
struct coroutine_promise<void> final : coroutine_promise_base<void> {
  coroutine<void> get_return_object() noexcept;
  void return_void() noexcept {}
};

struct coroutine_access;

}  // namespace detail

/// The return type of a coroutine function: a task that begins when a coroutine awaits it (co_await), or
/// heist::sync_wait. Destroying it without an await destroys its arguments, and runs nothing.
///
/// After co_await heist::resume_on(ex) it runs on that executor's workers, and so do the coroutines that it awaits.
/// If one of these moves to another executor, the awaiting coroutine returns to its own. It can await coroutines,
/// futures (std::move), shared_futures and runs of graphs, and several coroutines at once (when_all). No await parks a
/// fiber. It can also await objects that are not heist's. Code that resumes it by its handle runs all that follows it
/// there: the coroutine that awaits it, and perhaps the next one of a when_all().
///
/// Awaits use no stack, at any level of optimisation (except with GCC's -fno-optimize-sibling-calls at -O2). A
/// recursion 100,000 deep is 100,000 frames on the heap.
///
/// Cost  an await that suspends: a task for each resumption. Frames of up to 256 bytes come from the workers' pools.
template <class T>
class [[nodiscard]] coroutine {
 public:
  using promise_type = detail::coroutine_promise<T>;

  coroutine() noexcept = default;
  coroutine(coroutine&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  coroutine& operator=(coroutine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~coroutine() {
    if (handle_) handle_.destroy();
  }

  /// False if default made, moved from or awaited.
  bool valid() const noexcept { return static_cast<bool>(handle_); }

  /// Awaits it, once. Returns the value, or rethrows the exception, in the awaiting coroutine.
  auto operator co_await() && {
    if (!handle_) detail::reject_second_await();
    return awaiter{std::exchange(handle_, nullptr)};
  }

 private:
  friend promise_type;
  friend struct detail::coroutine_access;
  using handle = std::coroutine_handle<promise_type>;

  class awaiter {
   public:
    explicit awaiter(handle h) noexcept : handle_{h} {}
    awaiter(awaiter const&) = delete;
    awaiter& operator=(awaiter const&) = delete;
    ~awaiter() { handle_.destroy(); }

    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
      auto& promise = handle_.promise();
      promise.continuation = awaiting;
      promise.returns_to = promise.scheduler = detail::scheduler_of_promise(awaiting.promise());
      promise.of = detail::task_of_promise(awaiting.promise());
      return detail::transfer(awaiting, handle_);
    }
    HEIST_ALWAYS_INLINE T await_resume() {
      auto& promise = handle_.promise();
      if (promise.exception) std::rethrow_exception(std::move(promise.exception));
      return promise.result.take();
    }

   private:
    handle handle_;
  };

  explicit coroutine(handle h) noexcept : handle_{h} {}

  handle handle_;
};

namespace detail {

template <class T>
coroutine<T> coroutine_promise<T>::get_return_object() noexcept {
  return coroutine<T>{std::coroutine_handle<coroutine_promise>::from_promise(*this)};
}
inline coroutine<void> coroutine_promise<void>::get_return_object() noexcept {
  return coroutine<void>{std::coroutine_handle<coroutine_promise>::from_promise(*this)};
}

/// co_await of a task's result. `Handle`: future<T> or shared_future<T>.
template <class Handle>
class future_awaiter {
 public:
  explicit future_awaiter(Handle&& of) : future_{std::move(of)} {}

  bool await_ready() const { return future_.is_ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> h) {
    async_base& awaited = future_access::state(future_);
    core* on = scheduler_of_promise(h.promise());
    if (on == nullptr) on = awaited.scheduler;
    if (on == nullptr) reject_await_outside();
    wait_.suspend(awaited.finished, *on, h, task_of_promise(h.promise()), &awaited, stop_target_of(awaited));
  }
  auto await_resume() -> decltype(std::declval<Handle&>().get()) {
    wait_.resumed();
    return future_.get();
  }

 private:
  Handle future_;
  completion_awaiter wait_;
};

class resume_on_awaiter {
 public:
  explicit resume_on_awaiter(core& scheduler) noexcept : scheduler_{scheduler} {}
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> h) {
    if constexpr (std::is_base_of_v<coroutine_base, Promise>) h.promise().scheduler = &scheduler_;
    if (runs_on(scheduler_)) return false;
    resume_as_task(item_, scheduler_, h, task_of_promise(h.promise()));
    return true;
  }
  void await_resume() const noexcept {}

 private:
  core& scheduler_;
  resume_item item_;
};

/// Runs a coroutine from a plain function, and completes when it has ended.
struct root_coroutine {
  struct promise_type : coroutine_base {
    completion* done;
    interrupt_state part;
    task_of_coroutine const caller = task_that_waits(part);
    template <class Work>
    promise_type(Work&, completion& over) noexcept : done{&over} {
      of = &caller;
    }
    root_coroutine get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    struct final_awaiter {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<promise_type> h) const noexcept { h.promise().done->complete(); }
      void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }  // its work throws nothing
  };
  std::coroutine_handle<promise_type> handle;
};

template <class T>
struct root_work {
  coroutine<T> what;
  result_slot<T> result;
  std::exception_ptr exception;
};

template <class T>
root_coroutine run_root(root_work<T>& work, [[maybe_unused]] completion& over) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(work.what);
    } else if constexpr (std::is_reference_v<T>) {
      T value = co_await std::move(work.what);
      work.result.fill([&]() -> T { return value; });
    } else {
      T value = co_await std::move(work.what);
      work.result.fill([&]() -> T { return std::move(value); });
    }
  } catch (...) {
    work.exception = exception_of_task();
  }
}

}  // namespace detail

/// co_await heist::resume_on(ex): the coroutine resumes on a worker of `ex`, now and after each later await. Throws
/// executor_error if `ex` is being destroyed. `ex` must live until the coroutine has ended, or has moved elsewhere.
template <class Executor>
auto resume_on(Executor& ex) noexcept {
  return detail::resume_on_awaiter{detail::executor_access::core_of(ex)};
}

/// co_await std::move(future): its value, or its exception.
template <class T>
auto operator co_await(future<T>&& f) {
  return detail::future_awaiter<future<T>>{std::move(f)};
}
template <class T>
auto operator co_await(future<T>&) {
  static_assert(
      !std::is_same_v<T, T>,
      "heist: co_await takes the value of a future, which cannot be asked afterwards; fix it by std::move, or "
      "by share(), which many may await.");
}
/// Returns a reference to the value, which is valid while a copy of the shared_future exists, or rethrows the
/// exception.
template <class T>
auto operator co_await(shared_future<T> const& f) {
  return detail::future_awaiter<shared_future<T>>{shared_future<T>{f}};
}

/// Runs the coroutine, first on the calling thread, waits until it has ended, and returns its value or rethrows its
/// exception. A calling task parks meanwhile, a thread outside blocks. In a coroutine for which a task waits,
/// co_await of a future or run that waits for this task throws executor_error.
template <class T>
T sync_wait(coroutine<T> what) {
  detail::root_work<T> work{std::move(what), {}, nullptr};
  detail::completion over;
  detail::root_coroutine const root = detail::run_root(work, over);
  struct guard {
    std::coroutine_handle<> h;
    ~guard() { h.destroy(); }
  } const destroys{root.handle};
  detail::transfer_loop::resume_here(root.handle);
  detail::wait_to_the_end(over, os_env::process(), {"a coroutine"});
  if (work.exception) std::rethrow_exception(std::move(work.exception));
  return work.result.take();
}

}  // namespace heist
