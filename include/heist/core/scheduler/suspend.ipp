// Suspends the running code for requests from outside, at a fork, while all workers are busy (README.md, "Requests").
// Bodies of fiber's and of core's members.
#pragma once

#include <cstdint>
#include <utility>  // exchange

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// All frames of `w` that have called a child can be continued by any worker, as stolen ones. The code on `child` was
/// called last.
HEIST_COLD_BODY void core::shelve_continuations(worker& w, fiber& child) {
  fiber* shelved = nullptr;
  for (fiber* called = &child;;) {
    caller_frame* const frame = take_own_continuation(w, *called);
    if (frame == nullptr) break;
    called = frame->parent;
    called->next_cached = std::exchange(shelved, called);
  }
  // The oldest first: the worker itself continues with the youngest.
  while (shelved != nullptr) {
    fiber& f = *shelved;
    shelved = std::exchange(f.next_cached, nullptr);
    make_ready(f);
  }
}

HEIST_COLD_BODY bool fiber::must_suspend() noexcept {
  detail::worker& w = *worker;
  if (!w.notification.is_set()) return false;
  bool const passes = scheduler.is_permit_over(w);
  if (!passes &&
      !scheduler.something_from_outside()) {  // other workers have it, or the flag is for work between tasks only
    w.notification.lower_unless([&] { return scheduler.something_waits(w); });
    return false;
  }
  if (!may_suspend()) {
    if (waiting_joins != 0) core::ask_to_look(w);  // soon it may
    return false;
  }
  std::uint64_t const now = os_env::ticks();
  if (passes || w.share.is_due(now)) return true;
  w.share.own_turn(now);
  core::ask_to_look(w);
  return false;
}

HEIST_COLD_BODY void fiber::handle_notification() noexcept {
  if (!must_suspend()) return;
  detail::worker& w = *worker;
  fiber* next = nullptr;
  try {
    w.report_pending_count();
    next = &scheduler.acquire_fiber(w);
  } catch (...) {
    return;  // no stack: they wait for the end of the code that runs here
  }
  measurement_pause const waits{this};
  scheduler.shelve_continuations(w, *this);
  // A worker that takes them suspends them in turn, and a join that keeps its worker would wait for them for ever.
  if (no_migrate != 0 && scheduler.joins == join_strategy::park) expose_rest();
  if (scheduler.on_fiber != nullptr) scheduler.on_fiber(scheduler, w, *this, fiber_event::parks);
  next->worker = &w;
  w.current.store(next, std::memory_order_release);  // release: see worker::current
  std::uint32_t const pinned = no_migrate != 0 ? 1 : 0;
  w.pinned_fibers += pinned;
  fiber_context::switch_to(fiber_context_, next->fiber_context_, {&after_suspending, this});
  worker->pinned_fibers -= pinned;
  if (scheduler.on_fiber != nullptr) scheduler.on_fiber(scheduler, *worker, *this, fiber_event::resumes);
}

/// May the code on this fiber resume later, perhaps on another worker, although it waits for nothing?
HEIST_COLD_BODY bool fiber::may_suspend() const noexcept {
  if (waiting_joins != 0 || resumes != nullptr) return false;
  return scheduler.extension == nullptr || scheduler.extension->may_suspend(*this);
}

HEIST_COLD_BODY void fiber::after_suspending(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  f.scheduler.make_ready(f);
}

}  // namespace heist::detail
