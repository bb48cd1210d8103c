// Bodies of awaiting.hpp.
#pragma once

#include "heist/parallel/primitives/awaiting.hpp"

#if HEIST_COROUTINES
#include <string>

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/no_migrate.hpp"

namespace heist::detail {

HEIST_COLD_BODY core* line_awaiter_base::scheduler_of_thread() noexcept {
  fiber const* const self = this_fiber();
  return self == nullptr ? nullptr : &self->scheduler;
}

HEIST_COLD_BODY void line_awaiter_base::begin(core& on, line const& of, queued_waiter<>& w) {
  on.check_open();
  leaves_.emplace(of, w, never);
  note_.why = of.why;
  note_.text = [](outside_note const& self) {
    wait_reason const& why = static_cast<note const&>(self).why;
    return std::string{"a coroutine waits for "} + why.what + (why.name == nullptr ? "" : " ") +
           (why.name == nullptr ? "" : why.name) + wait_text(self.since);
  };
  on.outside.add(note_);
  noted_ = &on;
}

HEIST_COLD_BODY bool line_awaiter_base::suspend_until_notified(completion& notified, core& on,
                                                               std::coroutine_handle<> h,
                                                               task_of_coroutine const* part_of, line const& of,
                                                               queued_waiter<>& w) {
  try {
    suspend(notified, on, h, part_of);
    return true;
  } catch (executor_error const&) {  // its executor ends
    leave_now(of, w, notified);
    if (w.end != wait_end::completed) throw;
    return false;
  }
}

HEIST_COLD_BODY void line_awaiter_base::end_in_line() noexcept {
  if (noted_ == nullptr) return;
  noted_->outside.remove(note_);
  noted_ = nullptr;
  leaves_->end();
}

}  // namespace heist::detail
#endif
