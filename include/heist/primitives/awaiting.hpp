// How a coroutine waits in a line.
#pragma once

#include "heist/base/config.hpp"

#if HEIST_COROUTINES
#include <coroutine>
#include <optional>

#include "heist/coroutine/resumption.hpp"
#include "heist/observe/outside_notes.hpp"
#include "heist/primitives/waiting.hpp"

namespace heist::detail {

/// co_await of a line. `Awaiter` has `line of()`, `wait_end enter()` and a parked_in_line `waiter_`.
class line_awaiter : completion_awaiter {
 protected:
  line_awaiter() noexcept = default;
  ~line_awaiter() { end_in_line(); }

  enum class answer { suspended, goes_on, has_to_block };
  /// `enter()` puts `w` in line. Then the coroutine `h` is suspended, until it has been served or told to leave. It resumes
  /// where it belongs, or on the calling thread's executor. has_to_block: there is none. goes_on: it need not wait.
  template <class Promise, class Base, class Enter>
  answer suspend_in_line(std::coroutine_handle<Promise> h, line const& of, parked_in_line<Base>& w, Enter&& enter) {
    core* on = home_of_promise(h.promise());
    if (on == nullptr && (on = home_of_thread()) == nullptr) return answer::has_to_block;
    begin(*on, of, w);
    if (enter() != wait_end::none) return answer::goes_on;
    return suspend_until_woken(w.woken, *on, h, task_of_promise(h.promise()), of, w) ? answer::suspended
                                                                                     : answer::goes_on;
  }
  /// When it has resumed.
  void end_in_line() noexcept;

 private:
  struct note : outside_note {
    wait_reason why;
  };
  static core* home_of_thread() noexcept;
  void begin(core& on, line const& of, queued_waiter<>& w);
  /// It may have resumed elsewhere when this returns true.
  bool suspend_until_woken(completion& woken, core& on, std::coroutine_handle<> h, task_of_coroutine const* part_of,
                           line const& of, queued_waiter<>& w);

  core* noted_ = nullptr;
  note note_;
  std::optional<may_leave> leaves_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/primitives/awaiting.ipp"
#endif
#endif
