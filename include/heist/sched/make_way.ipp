// How what runs makes way for requests from outside, at a fork, while all workers are busy (README.md, "Requests").
// Bodies of fiber's and of core's members.
#pragma once

#include <cstdint>
#include <utility>  // exchange

#include "heist/sched/core.hpp"
#include "heist/sched/steal_log.hpp"

namespace heist::detail {

/// All frames of `w` that have called a child can be gone on with by anybody, as stolen ones. What runs on `child` was
/// called last.
HEIST_COLD_BODY void core::shelve_continuations(worker& w, fiber& child) {
  fiber* shelved = nullptr;
  for (fiber* called = &child;;) {
    calling_frame* const frame = take_own_continuation(w, *called);
    if (frame == nullptr) break;
    called = frame->parent;
    called->next_spare = std::exchange(shelved, called);
  }
  // The oldest first: the worker itself goes on with the youngest.
  while (shelved != nullptr) {
    fiber& f = *shelved;
    shelved = std::exchange(f.next_spare, nullptr);
    let_go_on(f);
  }
}

HEIST_COLD_BODY void fiber::attend() noexcept {
  worker& w = *on;
  if (!w.attention.raised()) return;
  if (home.requests.maybe_empty()) {  // others have them, or it comes for what can be seen between tasks only
    w.attention.lower_unless([&] { return home.something_waits(w); });
    return;
  }
  if (!may_make_way()) {
    if (locks != 0 || waiting_joins != 0) core::ask_to_look(w);  // soon it may
    return;
  }
  std::uint64_t const now = os_env::ticks();
  if (!w.share.is_due(now)) {
    w.share.own_turn(now);
    core::ask_to_look(w);
    return;
  }
  fiber* next = nullptr;
  try {
    w.report_tally();
    next = &home.obtain_fiber(w);
  } catch (...) {
    return;  // no stack: they wait for the end of what runs here
  }
  home.shelve_continuations(w, *this);
  if (no_migrate != 0) expose_rest();
  if (home.on_fiber != nullptr) home.on_fiber(home, w, *this, fiber_event::parks);
  next->on = &w;
  w.current.store(next, std::memory_order_release);  // release: see worker::current
  flow::switch_to(flow_, next->flow_, {&after_making_way, this});
  if (home.on_fiber != nullptr) home.on_fiber(home, *on, *this, fiber_event::goes_on);
}

/// May what runs on this fiber go on later, perhaps on another worker, although it waits for nothing?
HEIST_COLD_BODY bool fiber::may_make_way() const noexcept {
  if (locks != 0 || waiting_joins != 0 || seat != nullptr || stays()) return false;
  if (order != fork_order::recorded || called_by == nullptr) return true;
  // What a region's run records, or follows, is who ran what.
  return recorded_run::of(static_cast<recorded_frame const&>(*called_by).place.parent) == nullptr;
}

HEIST_COLD_BODY void fiber::after_making_way(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  f.home.let_go_on(f);
}

}  // namespace heist::detail
