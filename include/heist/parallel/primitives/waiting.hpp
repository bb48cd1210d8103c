// How a task and a thread wait in a line: stopped by what stops them, and no longer than they want.
#pragma once

#include <cstdint>
#include <exception>  // exception_ptr
#include <optional>
#include <stop_token>
#include <utility>  // forward

#include "heist/core/base/config.hpp"
#include "heist/core/observe/parked_note.hpp"
#include "heist/core/scheduler/timers.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/waiter_queue.hpp"

namespace heist::detail {

/// A waiter that parks by a completion, or suspends its coroutine on it.
template <class Base = queued_waiter<>>
struct parked_in_line : Base {
  template <class... Args>
  explicit parked_in_line(Args... args) noexcept : Base{&wake_up, args...} {}
  completion notified;

 private:
  static void wake_up(queued_waiter<>& w) noexcept { static_cast<parked_in_line&>(w).notified.complete(); }
};

/// The object that waiters stand in line for, and how one of them leaves.
struct line {
  void* object;
  void (*leave)(void* object, queued_waiter<>& w, wait_end why) noexcept;
  wait_reason why;
};

/// Lets a waiter leave while this lives: when the calling task is stopped, when `token` is, and, in a task, at `end`.
/// To be made before the waiter enters the line. Throws bad_alloc, and executor_error without a thread for the time.
class may_leave {
 public:
  may_leave(line const& from, queued_waiter<>& w, std::int64_t end, std::stop_token const& token = {});
  may_leave(may_leave const&) = delete;
  may_leave& operator=(may_leave const&) = delete;
  ~may_leave() { end(); }
  void end() noexcept;

 private:
  struct stops {
    may_leave* me;
    void operator()() const noexcept;
  };
  struct timer : timed_call {
    explicit timer(may_leave* of) noexcept;
    may_leave* me;
  };

  void* const object_;  // the owner instead of the line, which is long
  void (*const leave_)(void* object, queued_waiter<>& w, wait_end why) noexcept;
  queued_waiter<>& waiter_;
  std::optional<std::stop_callback<stops>> task_, token_;
  std::optional<timer> timer_;
};

/// Waits until `notified` is complete. A thread outside waits until `end` at most, and then leaves the line. Null: it
/// has waited. Otherwise a task could not park, and has left the line: stack_error or bad_alloc.
std::exception_ptr wait_until_notified(completion& notified, line const& of, queued_waiter<>& w,
                                       std::int64_t end) noexcept;

/// Lets `w` leave. Returns when `notified` is complete: it has left, or had been taken out and is woken just now.
void leave_now(line const& of, queued_waiter<>& w, completion& notified) noexcept;

[[noreturn]] void throw_stopped(wait_reason const& why);

/// Waits in a line. `enter()` puts `w` there. `again()` says, each time that it has been woken, whether it stands there
/// again (none). True: the wait is completed. False: it is late. Throws stopped_error, and as may_leave and
/// wait_until_notified().
template <class Base, class Enter, class Again>
bool wait_in_line(line const& of, parked_in_line<Base>& w, std::int64_t end, Enter&& enter, Again&& again) {
  may_leave const leaves{of, w, end};
  std::exception_ptr failure;
  wait_end now = enter();
  while (now == wait_end::none) {
    failure = wait_until_notified(w.notified, of, w, end);
    w.notified.reset();
    now = again();
  }
  if (now == wait_end::completed) return true;
  if (failure) std::rethrow_exception(std::move(failure));
  if (now == wait_end::stopped) throw_stopped(of.why);
  return false;
}
/// The same where a waiter that has been woken does not enter again.
template <class Base, class Enter>
bool wait_in_line(line const& of, parked_in_line<Base>& w, std::int64_t end, Enter&& enter) {
  return wait_in_line(of, w, end, std::forward<Enter>(enter), [&w]() -> wait_end { return w.end; });
}

/// Calls `wait(end)` until it is true, or it is later than `when`: clocks are set back.
template <class Clock, class Duration, class Wait>
bool wait_until_late(std::chrono::time_point<Clock, Duration> const& when, Wait&& wait) {
  do {
    if (wait(until(when))) return true;
  } while (Clock::now() < when);
  return false;
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/waiting.ipp"
#endif
