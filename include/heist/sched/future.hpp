// Tasks on their own, and the handle through which their results come.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>  // exception_ptr
#include <new>        // operator delete
#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>  // exchange, forward, in_place, move

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/base/result.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/pooled.hpp"
#include "heist/sched/wait.hpp"
#include "heist/sync/completion.hpp"

namespace heist {
namespace detail {

/// What the task and its handle share; whoever of the two is last frees it.
template <class R>
struct async_state : queued_runnable {
  async_state(run_function function, described const* description, unsigned process)
      : queued_runnable{{function, description}, nullptr}, generation{process} {}
  virtual ~async_state() { unfetched.keep(std::move(exception)); }

  void release() noexcept {
    // acq_rel: the last one sees what the other did
    if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  os_env::atomic<std::uint32_t> owners{2};
  unsigned const generation;  ///< of the process that the task runs in
  completion finished;
  std::exception_ptr exception;
  unfetched_reference unfetched;  ///< where the exception goes if nobody asks for it
  result_slot<R> result;
};

task_view view_of_async(runnable const& self) noexcept;
template <unsigned Wave>
unsigned async_wave(runnable const&) noexcept {
  return Wave;
}
bool describe_posted(runnable const& self, task_view& view) noexcept;
static_assert(work_count<>::both == 2);
inline constexpr described_operations posted_operations[3]{
    {&describe_posted, &async_wave<0>}, {&describe_posted, &async_wave<1>}, {&describe_posted, &async_wave<2>}};
/// What posted tasks are, by the wave that they belong to (work_count).
inline constexpr described posted_what[3]{{&posted_operations[0]}, {&posted_operations[1]}, {&posted_operations[2]}};
/// A task with a future tells its end before its future is ready.
bool describe_async(runnable const& self, task_view& view) noexcept;
inline constexpr described_operations async_operations[3]{
    {&describe_async, &async_wave<0>}, {&describe_async, &async_wave<1>}, {&describe_async, &async_wave<2>}};
/// As posted_what, of tasks with a future.
inline constexpr described async_what[3]{{&async_operations[0]}, {&async_operations[1]}, {&async_operations[2]}};
unsigned wave_of_async(runnable const& self) noexcept;
/// Hands a task to `home`, as a unit of work of its own. It says that it is of wave 0.
void submit_async(core& home, queued_runnable& task);

/// Throws if the calling code is the task itself, or a join of it runs the code on top of it: it could only wait for
/// ever.
void refuse_own_future(runnable const& task);

/// A task without a token is not interrupted by anything.
struct no_stop {
  static constexpr interrupt_state const* interrupt() noexcept { return nullptr; }
  static constexpr bool stopped() noexcept { return false; }
};
/// What a stop_token interrupts.
class stop_state {
 public:
  explicit stop_state(std::stop_token&& token) : callback_{std::move(token), set{&state_}} {}
  interrupt_state const* interrupt() const noexcept { return &state_; }
  bool stopped() const noexcept { return state_.any(); }

 private:
  struct set {
    interrupt_state* state;
    void operator()() const noexcept { state->why.store(1, std::memory_order_relaxed); }  // relaxed: advice
  };
  interrupt_state state_;
  std::stop_callback<set> callback_;
};

template <class Context, class F, class R, class Stop>
struct async_task final : async_state<R> {
  template <class G, class... Token>
  async_task(G&& g, unsigned process, Token&&... token)
      : async_state<R>{&run, &async_what[0], process},
        function(std::in_place, std::forward<G>(g)),
        stop(std::forward<Token>(token)...) {}

  static runnable* run(runnable& r, fiber& on) {
    auto& self = static_cast<async_task&>(r);
    on.on->report_tally();
    on.home.tell_begin(*on.on, view_of_async(r));
    interrupt_state const* const interrupt = self.stop.interrupt();
    if (self.stop.stopped()) {
      self.exception = std::make_exception_ptr(stopped_error{"the task was stopped before it started"});
    } else {
      interrupted_by const stop{on, interrupt};
      try {
        self.result.fill([&]() -> decltype(auto) { return call_with_context<Context>(*self.function, on, interrupt); });
      } catch (...) {
        self.exception = exception_of_task();
        self.unfetched.refer(on.home.unfetched());
      }
    }
    // Both before anybody can know that it has ended.
    self.function.reset();
    on.home.tell_end(*on.on, view_of_async(r));
    unsigned const wave = wave_of_async(self);
    self.finished.complete();
    self.release();
    core::ended(*on.on, wave);
    return nullptr;
  }

  std::optional<F> function;
  [[no_unique_address]] Stop stop;
};

/// A task that nobody waits for.
template <class Context, class F>
struct posted_task final : queued_runnable {
  template <class G>
  explicit posted_task(G&& g) : queued_runnable{{&run, &posted_what[0]}, nullptr}, function(std::forward<G>(g)) {}

  template <class G>
  static posted_task* make(core& home, G&& g) {
    if constexpr (!pooled<posted_task>) {
      return new posted_task(std::forward<G>(g));
    } else {
      void* const block = home.allocate_block(sizeof(posted_task));
      try {
        return ::new (block) posted_task(std::forward<G>(g));
      } catch (...) {
        ::operator delete(block);
        throw;
      }
    }
  }

  static runnable* run(runnable& r, fiber& on) {
    auto* const self = static_cast<posted_task*>(&r);
    on.on->report_tally();
    try {
      call_with_context<Context>(self->function, on, nullptr);
    } catch (...) {
      on.home.unfetched().keep(exception_of_task());
    }
    unsigned const wave = wave_of_async(*self);
    destroy_pooled(on, self);
    core::ended(*on.on, wave);
    return nullptr;
  }

  F function;
};

}  // namespace detail

/// The result of a submitted task, once.
///
/// Threads  one at a time. wait() and get() inside a task park it; outside they block the thread.
/// Promises when it is ready, the task's callable has been destroyed. Dropping it neither waits nor cancels; the task
///          still runs, and an exception that it throws reaches executor::wait_idle(), or stderr when the executor is
///          destroyed.
template <class T>
class [[nodiscard]] future {
 public:
  /// Refers to nothing.
  future() noexcept = default;
  future(future&& other) noexcept : state_{std::exchange(other.state_, nullptr)} {}
  future& operator=(future&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~future() {
    if (state_ != nullptr) state_->release();
  }

  /// False if default made, moved from, or already asked by get().
  bool valid() const noexcept { return state_ != nullptr; }
  bool done() const { return checked().finished.done(); }
  /// Returns when the task has finished.
  void wait() const {
    detail::async_state<T>& s = checked();
    if (s.finished.done()) return;
    detail::refuse_own_future(s);
    detail::wait_for(s.finished, s.generation, {"a future"});
  }
  /// Waits, then returns the result or rethrows the task's exception. The future refers to nothing afterwards.
  T get() {
    wait();
    future const mine{std::move(*this)};
    if (mine.state_->exception) std::rethrow_exception(std::exchange(mine.state_->exception, nullptr));
    return mine.state_->result.take();
  }

 private:
  template <class Context, class F, class... Token>
  friend auto detail_submit(detail::core& home, F&& f, Token&&... token);
  explicit future(detail::async_state<T>& state) noexcept : state_{&state} {}

  detail::async_state<T>& checked() const {
    if (state_ == nullptr) {
      throw executor_error{
          "this future refers to no task: it was default made, moved from, or its result was taken by get(); mend it "
          "by "
          "keeping the result of get()."};
    }
    return *state_;
  }

  detail::async_state<T>* state_ = nullptr;
};

/// Makes the task and hands it to `home`; the one place where futures come from. `token`: nothing or a stop_token.
template <class Context, class F, class... Token>
auto detail_submit(detail::core& home, F&& f, Token&&... token) {
  using function = std::decay_t<F>;
  using result = detail::task_result<Context, function>;
  using stop = std::conditional_t<sizeof...(Token) == 0, detail::no_stop, detail::stop_state>;
  auto* const task = new detail::async_task<Context, function, result, stop>{std::forward<F>(f), home.generation(),
                                                                             std::forward<Token>(token)...};
  try {
    detail::submit_async(home, *task);
  } catch (...) {
    delete task;
    throw;
  }
  return future<result>{*task};
}

template <class Order>
std::size_t basic_context<Order>::squad_id() const {
  return fiber_->home.where.squads().squad_of[fiber_->on->number];
}

template <class Order>
template <class F>
auto basic_context<Order>::submit(F&& f) const {
  return detail_submit<basic_context>(fiber_->home, std::forward<F>(f));
}

template <class Order>
template <class F>
auto basic_context<Order>::submit(std::stop_token token, F&& f) const {
  return detail_submit<basic_context>(fiber_->home, std::forward<F>(f), std::move(token));
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/sched/future.ipp"
#endif
