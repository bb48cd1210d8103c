// Bodies of waiting.hpp.
#pragma once

#include "heist/parallel/primitives/waiting.hpp"

#include <string>

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

/// Must the calling frame complete its wait in any case?
inline bool must_wait() noexcept {
  fiber const* const self = this_fiber();
  return self != nullptr && self->keeps_waiting != 0;
}

/// The interrupt_state that ends waits of the calling code. Null in code that must wait, and while an exception
/// unwinds: destructors could not throw.
inline interrupt_state const* stop_of_waits() noexcept {
  return must_wait() || std::uncaught_exceptions() != 0 ? nullptr : interrupt_of_caller();
}

HEIST_COLD_BODY void may_leave::stops::operator()() const noexcept {
  me->leave_(me->object_, me->waiter_, wait_end::stopped);
}

HEIST_COLD_BODY may_leave::timer::timer(may_leave* of) noexcept
    : timed_call{[](timed_call& e) noexcept {
        may_leave& leaves = *static_cast<timer&>(e).me;
        leaves.leave_(leaves.object_, leaves.waiter_, wait_end::timed_out);
      }},
      me{of} {}

HEIST_COLD_BODY may_leave::may_leave(line const& from, queued_waiter<>& w, std::int64_t end,
                                     std::stop_token const& token)
    : object_{from.object}, leave_{from.leave}, waiter_{w} {
  if (token.stop_possible()) token_.emplace(token, stops{this});
  if (interrupt_state const* const stop = stop_of_waits(); stop != nullptr) task_.emplace(stop->token(), stops{this});
  if (end == never) return;
  fiber* const here = this_fiber();
  if (here == nullptr) return;
  timer_.emplace(this);
  try {
    set_timer(here->scheduler, *timer_, end);
  } catch (...) {
    timer_.reset();
    throw;
  }
}

HEIST_COLD_BODY void may_leave::end() noexcept {
  task_.reset();
  token_.reset();
  if (timer_) unset_timer(*timer_);
  timer_.reset();
}

HEIST_COLD_BODY void leave_now(line const& of, queued_waiter<>& w, completion& notified) noexcept {
  of.leave(of.object, w, wait_end::stopped);
  for (std::uint32_t tries = 0; !notified.is_ready(); ++tries) os_env::spin(tries);
}

HEIST_COLD_BODY std::exception_ptr wait_until_notified(completion& notified, line const& of, queued_waiter<>& w,
                                                       std::int64_t end) noexcept {
  if (end != never && this_fiber() == nullptr) {
    thread_waiter<> me;
    if (!notified.add_entry(me)) return nullptr;
    noted_thread const noted{of.why};
    if (!me.wait_until(end)) {
      of.leave(of.object, w, wait_end::timed_out);
      me.wait();  // it has left, or another thread is about to wake it
    }
    return nullptr;
  }
  // A wait with a limit ends without the owner, so it belongs to no circle.
  wait_reason const limited{of.why.what, of.why.name};
  wait_reason const& why = end == never ? of.why : limited;
  try {
    if (must_wait()) {
      wait_to_the_end(notified, os_env::process(), why);
    } else {
      wait_for(notified, os_env::process(), why);
    }
    return nullptr;
  } catch (...) {
    std::exception_ptr failure = exception_of_task();
    leave_now(of, w, notified);
    return failure;
  }
}

HEIST_COLD_BODY void throw_stopped(wait_reason const& why) {
  throw stopped_error{std::string{"the task was stopped while it waited for "} + why.what};
}

}  // namespace heist::detail
