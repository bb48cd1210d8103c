// Waiting for other tasks: a latch, a barrier, an event.
#pragma once

#include <chrono>
#include <cstddef>  // ptrdiff_t
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>  // move

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/fwd.hpp"
#include "heist/parallel/primitives/awaiting.hpp"
#include "heist/parallel/primitives/waiting.hpp"

namespace heist {

namespace detail {

/// Waiters that are all let go at once, under a lock.
class open_line {
 public:
  open_line() = default;
  open_line(open_line const&) = delete;
  open_line& operator=(open_line const&) = delete;
  /// The last call that let waiters go may not have returned.
  ~open_line();

  using waiter = parked_in_line<>;

  /// Waits unless `is_open()`, which is asked under the lock. False: the time is over.
  template <class IsOpen>
  bool wait(char const* what, IsOpen is_open, std::int64_t end = never) {
    waiter w;
    return wait_in_line(line{this, &leave, {what}}, w, end, [&] { return enter(w, is_open); });
  }
  template <class IsOpen>
  wait_end enter(waiter& w, IsOpen const& is_open) noexcept {
    spin_guard guard{lock};
    if (is_open()) return w.end = wait_end::completed;
    return waiters.enter(w) ? wait_end::none : w.end;
  }
  static void leave(void* me, queued_waiter<>& w, wait_end why) noexcept;

  mutable spin_lock<> lock;
  waiter_queue<> waiters;

#if HEIST_COROUTINES
  /// co_await of it.
  template <class IsOpen>
  class awaiter : line_awaiter<> {
   public:
    awaiter(open_line& of, char const* what, IsOpen is_open) noexcept : line_{of}, what_{what}, is_open_{is_open} {}
    bool await_ready() const noexcept {
      spin_guard guard{line_.lock};
      return is_open_();
    }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
      return suspend_in_line(h, line{&line_, &leave, {what_}}, [this] { return line_.enter(waiter_, is_open_); });
    }
    void await_resume() { resume(what_); }

   private:
    open_line& line_;
    char const* const what_;
    IsOpen const is_open_;
  };
#endif
};

}  // namespace detail

/// As std::latch, for tasks, threads and coroutines at once.
///
/// Stops  a stop of the waiting task ends wait() with stopped_error.
class latch {
  auto is_open() const noexcept {
    return [this] { return left_ == 0; };
  }

 public:
  static constexpr std::ptrdiff_t max() noexcept { return std::numeric_limits<std::ptrdiff_t>::max(); }
  /// Throws executor_error for a count below 0.
  explicit latch(std::ptrdiff_t expected);

  /// Throws executor_error if `n` is more than is left.
  void count_down(std::ptrdiff_t n = 1);
  [[nodiscard]] bool try_wait() const noexcept;
  void wait() const {
    if (!try_wait()) line_.wait("a latch", is_open());
  }
  void arrive_and_wait(std::ptrdiff_t n = 1) {
    count_down(n);
    wait();
  }
#if HEIST_COROUTINES
  [[nodiscard]] auto wait_async() const noexcept {
    return detail::open_line::awaiter{line_, "a latch", is_open()};
  }
#endif

 private:
  std::ptrdiff_t left_;  // under the line's lock
  mutable detail::open_line line_;
};

/// An event that stays as it is set: waiting returns as long as it is set.
class manual_reset_event {
  auto is_open() const noexcept {
    return [this] { return is_set_; };
  }

 public:
  explicit manual_reset_event(bool is_set = false) noexcept : is_set_{is_set} {}

  /// Wakes all waiters.
  void set() noexcept;
  void reset() noexcept;
  [[nodiscard]] bool is_set() const noexcept;
  /// A stop of the waiting task ends it with stopped_error.
  void wait() const {
    if (!is_set()) wait(detail::never);
  }
  /// False if the time is over.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(std::chrono::duration<Rep, Period> const& time) const {
    return is_set() || wait(detail::until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(std::chrono::time_point<Clock, Duration> const& when) const {
    return is_set() || detail::wait_until_late(when, [this](std::int64_t end) { return wait(end); });
  }
#if HEIST_COROUTINES
  [[nodiscard]] auto wait_async() const noexcept {
    return detail::open_line::awaiter{line_, "an event", is_open()};
  }
#endif

 private:
  bool wait(std::int64_t end) const {
    return line_.wait("an event", is_open(), end);
  }

  bool is_set_;  // under the line's lock
  mutable detail::open_line line_;
};

namespace detail {
struct nothing_to_do {
  void operator()() const noexcept {}
};

/// The part of a barrier that does not depend on its function.
class barrier_base {
 public:
  using phase = std::uint64_t;

 protected:
  explicit barrier_base(std::ptrdiff_t expected);
  /// Arrives `n` times. Returns its phase; `ends`: it was the last, and is to call complete().
  phase arrive(std::ptrdiff_t n, std::ptrdiff_t drops, bool& ends);
  void complete() noexcept;
  auto is_over(phase p) const noexcept {
    return [this, p] { return now_ != p; };
  }
  void wait_for(phase p) const { line_.wait("a barrier", is_over(p)); }

  std::ptrdiff_t expected_, left_;  // under the line's lock, as the rest
  phase now_ = 0;
  mutable open_line line_;
};
}  // namespace detail

/// As std::barrier, for tasks, threads and coroutines at once.
///
/// Stops  a stop of the waiting task ends wait() with stopped_error; it has arrived.
template <class CompletionFunction = detail::nothing_to_do>
class barrier : detail::barrier_base {
  static_assert(
      std::is_nothrow_invocable_v<CompletionFunction&>,
      "heist: the callable that ends a phase of a barrier takes no arguments and is noexcept; fix it by noexcept.");

 public:
  class arrival_token {
   public:
    arrival_token(arrival_token&&) noexcept = default;
    arrival_token& operator=(arrival_token&&) noexcept = default;

   private:
    friend barrier;
    explicit arrival_token(phase p) noexcept : phase_{p} {}
    phase phase_;
  };

  static constexpr std::ptrdiff_t max() noexcept { return std::numeric_limits<std::ptrdiff_t>::max(); }
  /// Throws executor_error for a count below 0.
  explicit barrier(std::ptrdiff_t expected, CompletionFunction f = CompletionFunction())
      : barrier_base{expected}, completion_(std::move(f)) {}

  /// Throws executor_error if `n` is 0 or more than is left of this phase.
  [[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1) { return arrival_token{arrive_with(n, 0)}; }
  void wait(arrival_token&& arrival) const { wait_for(arrival.phase_); }
  void arrive_and_wait() { wait(arrive()); }
  void arrive_and_drop() { arrive_with(1, 1); }
#if HEIST_COROUTINES
  [[nodiscard]] auto wait_async(arrival_token&& arrival) const noexcept {
    return detail::open_line::awaiter{line_, "a barrier", is_over(arrival.phase_)};
  }
  [[nodiscard]] auto arrive_and_wait_async() {
    return wait_async(arrive());
  }
#endif

 private:
  phase arrive_with(std::ptrdiff_t n, std::ptrdiff_t drops) {
    bool ends = false;
    phase const mine = barrier_base::arrive(n, drops, ends);
    if (ends) {
      completion_();
      complete();
    }
    return mine;
  }
  [[no_unique_address]] CompletionFunction completion_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/latch.ipp"
#endif
