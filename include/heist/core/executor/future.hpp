// The handles through which the results of tasks come: a future, for one get(), and a shared_future, for any number of
// them.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>  // rethrow_exception
#include <stop_token>
#include <thread>  // std::chrono's clocks and durations, without their texts
#include <type_traits>
#include <utility>  // exchange, forward, move, swap

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/circular_wait.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/core/executor/timed_wait.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist {
namespace detail {

[[noreturn]] void reject_empty_future();
struct future_access;

// A base class that the reference shows.
/// The operations that both kinds of handles share.
template <class T>
class future_base {
 public:
  /// False if default made, moved from, or, of a future, already asked by get().
  bool valid() const noexcept { return state_ != nullptr; }
  bool is_ready() const { return checked().finished.is_ready(); }
  /// Returns when the task has finished. Inside a task it parks that task, outside it blocks the thread. Throws
  /// executor_error if the other task waits for the calling one, itself or through further tasks; both futures stay as
  /// they are.
  void wait() const {
    async_state<T>& s = checked();
    if (s.finished.is_ready()) return;
    reject_own_future(s);
    wait_for_future(s);
  }
  /// Lets a task that waits for a worker begin before other waiting tasks, as one of high priority. Nothing changes if
  /// it has begun, has predecessors, or heist::with gave it a worker or a priority. Throws bad_alloc. Its executor must
  /// still be there. A value that no caller takes may live until the task's turn in its old place.
  void raise_priority() const { detail::raise_priority(checked()); }
  /// Stops a task that was submitted with heist::with{.stoppable = true}, or with a stop token or a deadline, and a run
  /// of a pipeline. It is skipped if it has not started. Otherwise it sees what it would see if its stop token was
  /// stopped: context::stop_requested() becomes true in it and in all its children. Throws executor_error for other
  /// tasks.
  void request_stop() const { detail::request_stop(checked()); }
  /// As wait(), but for at most `time`; true if the task has finished. Inside a task it is a blocking call
  /// (context::blocking): another thread takes the worker's place meanwhile.
  template <class Rep, class Period>
  bool wait_for(std::chrono::duration<Rep, Period> const& time) const {
    return wait_until(later_by(time));
  }
  /// The same until a point in time.
  template <class Clock, class Duration>
  bool wait_until(std::chrono::time_point<Clock, Duration> const& when) const {
    async_state<T>& s = checked();
    if (s.finished.is_ready()) return true;
    reject_own_future(s);
    return wait_until_done(awaited_end_of(s), when);
  }

 protected:
  friend struct future_access;
  future_base() noexcept = default;
  explicit future_base(async_state<T>* state) noexcept : state_{state} {}
  ~future_base() {
    if (state_ != nullptr) state_->release();
  }

  async_state<T>& checked() const {
    if (state_ == nullptr) reject_empty_future();
    return *state_;
  }

  async_state<T>* state_ = nullptr;
};

}  // namespace detail

template <class T>
class shared_future;

/// The result of a submitted task, once.
///
/// Threads  one at a time. wait() and get() inside a task park it; outside they block the thread.
/// Promises when it is ready, the task's callable has been destroyed. The last handle destroys the value. If the
///          handle is dropped while the worker ends the task, the worker destroys it a moment later; call get() to
///          avoid that. Dropping the future neither waits nor cancels: the task still runs. Its exception reaches
///          executor::wait_idle(), or stderr when the executor is destroyed.
template <class T>
class [[nodiscard]] future : public detail::future_base<T> {
 public:
  using value_type = T;
  /// Refers to nothing.
  future() noexcept = default;
  future(future&& other) noexcept : detail::future_base<T>{std::exchange(other.state_, nullptr)} {}
  future& operator=(future&& other) noexcept {
    std::swap(this->state_, other.state_);
    return *this;
  }

  /// Waits, then returns the result or rethrows the task's exception. The future refers to nothing afterwards.
  T get() {
    this->wait();
    future const mine{std::move(*this)};
    if (mine.state_->exception) std::rethrow_exception(mine.state_->take_exception());
    return mine.state_->result.take();
  }
  /// Returns a shared_future of the same task. This future refers to nothing afterwards.
  shared_future<T> share() noexcept { return shared_future<T>{std::move(*this)}; }

  /// Starts f(value), or f(context, value), on the same executor when the task has finished. If the task throws, f is
  /// not called, and the new future has the exception. This future refers to nothing afterwards. The executor must
  /// still exist.
  template <class F>
  auto then(F&& f) &&;

 private:
  friend struct detail::future_access;
  friend class shared_future<T>;
  explicit future(detail::async_state<T>* state) noexcept : detail::future_base<T>{state} {}
};

/// The result of a submitted task, for any number of readers.
///
/// Threads  one at a time for each copy. Different threads may use different copies at the same time.
/// Cost     a copy is one locked increment.
/// Promises as future. The exception counts as taken when get() of one copy was called, or when another task comes
///          after this one.
template <class T>
class shared_future : public detail::future_base<T> {
 public:
  using value_type = T;
  /// Refers to nothing.
  shared_future() noexcept = default;
  shared_future(future<T>&& only) noexcept : detail::future_base<T>{std::exchange(only.state_, nullptr)} {}
  shared_future(shared_future const& other) noexcept : detail::future_base<T>{other.state_} {
    if (this->state_ != nullptr) this->state_->retain();
  }
  shared_future(shared_future&& other) noexcept : detail::future_base<T>{std::exchange(other.state_, nullptr)} {}
  shared_future& operator=(shared_future other) noexcept {
    std::swap(this->state_, other.state_);
    return *this;
  }

  /// Waits, then returns a reference to the result, or rethrows the task's exception. The reference is valid while a
  /// copy exists.
  decltype(auto) get() const {
    this->wait();
    if (this->state_->exception) std::rethrow_exception(this->state_->pass_exception());
    return std::as_const(this->state_->result).get();
  }

  /// As future::then; f gets a reference to the value.
  template <class F>
  auto then(F&& f) const;

 private:
  friend struct detail::future_access;
  explicit shared_future(detail::async_state<T>* state) noexcept : detail::future_base<T>{state} {}
};

namespace detail {

struct future_access {
  template <class T>
  static future<T> make(async_state<T>& owned) noexcept {
    return future<T>{&owned};
  }
  /// A handle with a share of its own.
  template <class T>
  static shared_future<T> one_more(async_state<T>& of) noexcept {
    of.retain();
    return shared_future<T>{&of};
  }
  template <class T>
  static async_state<T>& state(future_base<T> const& f) {
    return f.checked();
  }
  /// A share for the caller: the handle's own, or one more.
  template <class T>
  static async_state<T>* share(shared_future<T>& f) noexcept {
    return give_up(f);
  }
  template <class T>
  static async_state<T>* share(shared_future<T> const& f) noexcept {
    f.state_->retain();
    return f.state_;
  }
  /// As get(), for a task that uses the caller's frame. It waits also if there is no stack to continue with
  /// (wait_to_the_end).
  template <class T>
  static T take_at_the_end(future<T> f) {
    async_state<T>& s = f.checked();
    if (!s.finished.is_ready()) wait_for_future_to_the_end(s);
    return f.get();
  }
  /// The handle's share in the state goes to the caller.
  template <class T>
  static async_state<T>* give_up(future_base<T>& f) noexcept {
    return std::exchange(f.state_, nullptr);
  }
};

template <class T>
inline constexpr bool is_future = false;
template <class T>
inline constexpr bool is_future<future<T>> = true;
template <class T>
inline constexpr bool is_shared_future = false;
template <class T>
inline constexpr bool is_shared_future<shared_future<T>> = true;

/// Something that submit() takes in front of the callable: heist::after, heist::with. A stop token is recognised, and
/// refused with a sentence.
template <class T>
inline constexpr bool is_submit_option = std::is_same_v<std::remove_cvref_t<T>, std::stop_token> || requires {
  typename std::remove_cvref_t<T>::submit_option_tag;
};
template <class... T>
inline constexpr bool have_submit_option = (is_submit_option<T> || ...);
/// start() of submit() with these options, without references. That of heist::with is in with.hpp, those with
/// heist::after are in parallel/async/after.hpp.
template <class Context, class... Options>
struct submission {
  template <class... Any>
  static auto start(core&, Any&&...) {
    static_assert(sizeof...(Any) > 1000,
                  "heist: submit() takes one callable, last, and in front of it at most one heist::after(...) and one "
                  "heist::with{...}; fix it by capturing in the callable what it needs, and pass a stop token as "
                  "heist::with{.stop = token}.");
    return rejected_handle<future>{};
  }
};
/// Classes that derive from heist::with count as such.
template <class T>
using option_of = std::conditional_t<std::is_base_of_v<with, std::remove_cvref_t<T>>, with, std::remove_cvref_t<T>>;

template <class Context, class First, class F>
auto submit_with(core& scheduler, First&& first, F&& f) {
  return submission<Context, option_of<First>>::start(scheduler, std::forward<First>(first), std::forward<F>(f));
}
template <class Context, class First, class Second, class F, class... More>
auto submit_with(core& scheduler, First&& first, Second&& second, F&& f, More&&... more) {
  return submission<Context, option_of<First>, option_of<Second>, option_of<More>...>::start(
      scheduler, std::forward<First>(first), std::forward<Second>(second), std::forward<F>(f),
      std::forward<More>(more)...);
}

/// Makes the task and hands it to `scheduler`; where futures of tasks without predecessors come from. The task inherits
/// the stop of the calling task, besides that of its options. `given`: what `Extra` is made of.
template <class Context, class Extra = no_stop, class F, class... Given>
auto submit_task(core& scheduler, F&& f, Given&&... given) {
  using function = std::decay_t<F>;
  using result = task_result<Context, function>;
  auto* const task = make_submitted<async_task<Context, function, result, Extra>>(scheduler, std::forward<F>(f),
                                                                                  std::forward<Given>(given)...);
  submit_or_destroy(scheduler, *task);
  return future_access::make<result>(*task);
}

/// executor::post.
template <class Context, class F>
void post_to(core& scheduler, F&& f) {
  using task = posted_task<Context, std::decay_t<F>>;
  scheduler.check_open();
  task* const made = task::make(scheduler, std::forward<F>(f));
  try {
    submit_posted(scheduler, *made);
  } catch (...) {
    discard_pooled(made);
    throw;
  }
}

/// executor::run_here. `given`: what `Extra` is made of.
template <class Context, class Extra = no_stop, class F, class... Given>
decltype(auto) run_here_on(core& scheduler, F&& f, Given&&... given) {
  using function = std::decay_t<F>;
  using result = task_result<Context, function>;
  if constexpr (callable_plain<function>) {
    if (this_worker() == nullptr) {
      scheduler.check_open();
      [[maybe_unused]] Extra const options(std::forward<Given>(given)...);
      if (options.stopped()) std::rethrow_exception(stopped_before_start());
      function own(std::forward<F>(f));
      return static_cast<result>(own());
    }
  }
  auto* const task = make_submitted<async_task<Context, function, result, Extra>>(scheduler, std::forward<F>(f),
                                                                                  std::forward<Given>(given)...);
  future<result> ended = future_access::make<result>(*task);
  try {
    if (this_worker() != nullptr || !scheduler.run_as_helper(*task)) submit_async(scheduler, *task);
  } catch (...) {
    task->forget_pending();
    task->release();
    throw;
  }
  return future_access::take_at_the_end(std::move(ended));
}

}  // namespace detail

template <class Order>
std::size_t basic_context<Order>::squad_id() const {
  return fiber_->scheduler.where.squads().squad_of[worker_id()];
}

template <class Order>
template <class F>
auto basic_context<Order>::submit(F&& f) const {
  if constexpr (detail::accepted<detail::as_task<basic_context, F>>()) {
    return detail::submit_task<basic_context>(fiber_->scheduler, std::forward<F>(f));
  } else {
    return detail::rejected_handle<future>{};
  }
}

template <class Order>
template <class How, class Next, class... More>
auto basic_context<Order>::submit(How&& how, Next&& next, More&&... more) const {
  return detail::submit_with<basic_context>(fiber_->scheduler, std::forward<How>(how), std::forward<Next>(next),
                                            std::forward<More>(more)...);
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/executor/future.ipp"
#endif
