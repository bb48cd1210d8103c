// Bodies of waiting.hpp.
#pragma once

#include "heist/primitives/waiting.hpp"

#include <string>

#include "heist/base/errors.hpp"
#include "heist/executor/async.hpp"
#include "heist/fiber/current.hpp"
#include "heist/sched/wait.hpp"

namespace heist::detail {

/// The interrupt_state that ends waits of the calling code. Not of what an exception has left: its destructors could not
/// throw.
inline interrupt_state const* stop_of_waits() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  if (w == nullptr || w->current.load(std::memory_order_relaxed)->keeps_waiting != 0)
    return nullptr;  // relaxed: its own
  return std::uncaught_exceptions() == 0 ? interrupt_on(*w) : nullptr;
}

HEIST_COLD_BODY void may_leave::stops::operator()() const noexcept {
  me->from_.leave(me->from_.object, me->waiter_, wait_end::stopped);
}

HEIST_COLD_BODY may_leave::timer::timer(may_leave* of) noexcept
    : timed_call{[](timed_call& e) noexcept {
        may_leave& leaves = *static_cast<timer&>(e).me;
        leaves.from_.leave(leaves.from_.object, leaves.waiter_, wait_end::timed_out);
      }},
      me{of} {}

HEIST_COLD_BODY may_leave::may_leave(line const& from, queued_waiter<>& w, std::int64_t end,
                                     std::stop_token const& token)
    : from_{from}, waiter_{w} {
  if (token.stop_possible()) token_.emplace(token, stops{this});
  if (interrupt_state const* const stop = stop_of_waits(); stop != nullptr) task_.emplace(stop->token(), stops{this});
  if (end == never) return;
  worker* const here = this_worker();  // kept: asked for its executor, at once
  if (here == nullptr) return;
  timer_.emplace(this);
  try {
    set_timer(here->home, *timer_, end);
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

/// A thread outside that waits until a point in time.
struct late_thread : completion_waiter {
  late_thread() noexcept
      : completion_waiter{[](completion_waiter& w) noexcept {
          park_word& its = static_cast<late_thread&>(w).word;
          its.store(1, std::memory_order_release);  // release: what the waker did. After it, only the address is used.
          its.wake_one();
        }} {}
  park_word word;

  /// True: it has been woken.
  bool wait(std::int64_t end) noexcept {
    while (word.load(std::memory_order_acquire) == 0) {  // acquire: pairs with wake
      if (end == never) {
        word.wait(0);
        continue;
      }
      std::int64_t const left = end - os_env::nanoseconds();
      if (left <= 0) return false;
      word.wait_for(0, left);
    }
    return true;
  }
};

/// Has the calling frame to get what it waits for, whatever happens?
inline bool must_wait() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  return w != nullptr && w->current.load(std::memory_order_relaxed)->keeps_waiting != 0;  // relaxed: its own
}

HEIST_COLD_BODY std::exception_ptr wait_until_woken(completion& woken, line const& of, queued_waiter<>& w,
                                                    std::int64_t end) noexcept {
  if (end != never && this_worker() == nullptr) {
    late_thread me;
    if (!woken.enlist(me)) return nullptr;
    noted_thread const noted{of.why};
    if (!me.wait(end)) {
      of.leave(of.object, w, wait_end::timed_out);
      me.wait(never);  // it has left, or somebody is about to wake it
    }
    return nullptr;
  }
  try {
    if (must_wait()) {
      wait_to_the_end(woken, os_env::process(), of.why);
    } else {
      wait_for(woken, os_env::process(), of.why);
    }
    return nullptr;
  } catch (...) {
    std::exception_ptr failure = exception_of_task();
    of.leave(of.object, w, wait_end::stopped);
    wait_to_the_end(woken, os_env::process(), of.why);  // it has left, or somebody is about to wake it
    return failure;
  }
}

HEIST_COLD_BODY void throw_stopped(wait_reason const& why) {
  throw stopped_error{std::string{"the task was stopped while it waited for "} + why.what};
}

}  // namespace heist::detail
