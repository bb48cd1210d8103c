// How a coroutine waits in a line.
#pragma once

#include "heist/core/base/config.hpp"

#if HEIST_COROUTINES
#include <coroutine>
#include <optional>

#include "heist/core/observe/outside_waits.hpp"
#include "heist/parallel/coroutine/resumption.hpp"
#include "heist/parallel/primitives/waiting.hpp"

namespace heist::detail {

/// Common base of awaiters: the notes of a coroutine that waits.
class line_awaiter_base : completion_awaiter {
 protected:
  line_awaiter_base() noexcept = default;
  ~line_awaiter_base() { end_in_line(); }

  static core* scheduler_of_thread() noexcept;
  void begin(core& on, line const& of, queued_waiter<>& w);
  /// False: it goes on here. It may have resumed elsewhere when this returns true.
  bool suspend_until_notified(completion& notified, core& on, std::coroutine_handle<> h,
                              task_of_coroutine const* part_of, line const& of, queued_waiter<>& w);
  void end_in_line() noexcept;

 private:
  struct note : outside_note {
    wait_reason why;
  };

  core* noted_ = nullptr;
  note note_;
  std::optional<may_leave> leaves_;
};

/// co_await of a line.
template <class Base = queued_waiter<>>
class line_awaiter : line_awaiter_base {
 protected:
  template <class... Args>
  explicit line_awaiter(Args... args) noexcept : waiter_{args...} {}

  /// For await_suspend(): `enter()` puts `waiter_` in line. True: the coroutine `h` is suspended until that wait is
  /// completed or told to leave. It resumes where it belongs, or on the calling thread's executor. The thread blocks if it
  /// has none.
  template <class Promise, class Enter>
  bool suspend_in_line(std::coroutine_handle<Promise> h, line const& of, Enter&& enter) {
    core* on = scheduler_of_promise(h.promise());
    if (on == nullptr && (on = scheduler_of_thread()) == nullptr) {
      wait_in_line(of, waiter_, never, enter);
      return false;
    }
    begin(*on, of, waiter_);
    return enter() == wait_end::none &&
           suspend_until_notified(waiter_.notified, *on, h, task_of_promise(h.promise()), of, waiter_);
  }
  /// First of all in await_resume(). False: it was told to leave.
  bool is_completed() noexcept {
    end_in_line();
    return waiter_.end == wait_end::completed || waiter_.end == wait_end::none;
  }
  void resume(char const* what) {
    if (!is_completed()) throw_stopped({what});
  }

  parked_in_line<Base> waiter_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/awaiting.ipp"
#endif
#endif
