// Bodies of awaiting.hpp.
#pragma once

#include "heist/primitives/awaiting.hpp"

#if HEIST_COROUTINES
#include <string>
#include <utility>  // exchange

#include "heist/base/errors.hpp"
#include "heist/fiber/current.hpp"

namespace heist::detail {

HEIST_COLD_BODY core* line_awaiter::home_of_thread() noexcept {
  worker* const w = this_worker();  // kept: asked for its executor, at once
  return w == nullptr ? nullptr : &w->home;
}

HEIST_COLD_BODY void line_awaiter::begin(core& on, line const& of, queued_waiter<>& w) {
  on.check_open();
  leaves_.emplace(of, w, never);
  note_.why = of.why;
  note_.text = [](outside_note const& self) {
    wait_reason const& why = static_cast<note const&>(self).why;
    return std::string{"a coroutine waits for "} + why.what + (why.name == nullptr ? "" : " ") +
           (why.name == nullptr ? "" : why.name) + waited_text(self.since);
  };
  on.outside.add(note_);
  noted_ = &on;
}

HEIST_COLD_BODY bool line_awaiter::suspend_until_woken(completion& woken, core& on, std::coroutine_handle<> h,
                                                       task_of_coroutine const* part_of, line const& of,
                                                       queued_waiter<>& w) {
  try {
    suspend(woken, on, h, part_of);
    return true;
  } catch (executor_error const&) {  // its executor ends
    of.leave(of.object, w, wait_end::stopped);
    for (std::uint32_t tries = 0; !woken.done(); ++tries) os_env::spin(tries);  // somebody has served it just now
    if (w.end != wait_end::served) throw;
    return false;
  }
}

HEIST_COLD_BODY void line_awaiter::end_in_line() noexcept {
  if (noted_ == nullptr) return;
  noted_->outside.remove(note_);
  noted_ = nullptr;
  leaves_->end();
}

}  // namespace heist::detail
#endif
