// How a task and a thread wait in a line: stopped by what stops them, and no longer than they want.
#pragma once

#include <cstdint>
#include <exception>  // exception_ptr
#include <optional>
#include <stop_token>
#include <utility>  // forward

#include "heist/base/config.hpp"
#include "heist/observe/parked_note.hpp"
#include "heist/sched/timers.hpp"
#include "heist/sync/completion.hpp"
#include "heist/sync/waiter_queue.hpp"

namespace heist::detail {

/// A waiter that parks by a completion, or suspends its coroutine on it.
template <class Base = queued_waiter<>>
struct parked_in_line : Base {
  template <class... Args>
  explicit parked_in_line(Args... args) noexcept : Base{&wake_up, args...} {}
  completion woken;

 private:
  static void wake_up(queued_waiter<>& w) noexcept { static_cast<parked_in_line&>(w).woken.complete(); }
};

/// What is waited for, and how a waiter leaves its line.
struct line {
  void* object;
  void (*leave)(void* object, queued_waiter<>& w, wait_end why) noexcept;
  wait_reason why;
};

/// Lets a waiter leave while this lives: when the calling task is stopped, when `token` is, and, in a task, at `end`. To be
/// made before the waiter enters the line. Throws bad_alloc, and executor_error without a thread for the time.
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

  line const from_;
  queued_waiter<>& waiter_;
  std::optional<std::stop_callback<stops>> task_, token_;
  std::optional<timer> timer_;
};

/// Waits until `woken` is complete. A thread outside waits until `end` at most, and then leaves the line. Null: it has
/// waited. Otherwise a task could not park, and has left the line: stack_error or bad_alloc.
std::exception_ptr wait_until_woken(completion& woken, line const& of, queued_waiter<>& w, std::int64_t end) noexcept;

[[noreturn]] void throw_stopped(wait_reason const& why);

/// Waits in a line. `enter()` puts `w` there; `again()` says, each time that it has been woken, whether it stands there
/// again (none). Throws as may_leave and wait_until_woken().
template <class Base, class Enter, class Again>
wait_end wait_in_line(line const& of, parked_in_line<Base>& w, std::int64_t end, std::stop_token const& token,
                      Enter&& enter, Again&& again) {
  may_leave const leaves{of, w, end, token};
  std::exception_ptr failure;
  wait_end now = enter();
  while (now == wait_end::none) {
    failure = wait_until_woken(w.woken, of, w, end);
    w.woken.reset();
    now = again();
  }
  if (failure && now != wait_end::served) std::rethrow_exception(std::move(failure));
  return now;
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/primitives/waiting.ipp"
#endif
