// How fibers park and go on (README.md, "Parking"). Bodies of fiber and of core's fiber members.
#pragma once

#include "heist/sched/core.hpp"

namespace heist::detail {

inline fiber& core::obtain_fiber(worker& w) {
  if (fiber* const f = w.spare; f != nullptr) {
    w.spare = f->next_spare;
    return *f;
  }
  unsigned colour = 0;
  {
    spin_guard guard{lock_};
    colour = next_colour_++;
  }
  auto made = std::make_unique<fiber>(*this, stack::map(stack_size_), &begin_fiber, colour);
  fiber& f = *made;
  // Reserving and adding under a lock that must not be held across an allocation: so the list is one of links.
  spin_guard guard{lock_};
  made->next_of_all = std::move(fibers_);
  fibers_ = std::move(made);
  return f;
}

inline void core::begin_fiber(void* self) {
  fiber& f = *static_cast<fiber*>(self);
  f.home.loop_(f);
  // The loop ends when the executor stops: back to the stack that the worker's thread was born with, for ever.
  flow::switch_to(f.own_flow(), *f.on->boot, {[](void*) noexcept {}, nullptr}, true);
}

/// Without memory for a longer deque or another fiber: what would have waited runs here and now.
inline worker& core::run_without_memory(worker& w, runnable& r) {
  fiber& on = *w.current;
  for (runnable* t = &r; t != nullptr;) t = t->run(*t, on);
  return *on.on;
}

inline void fiber::wait_for(completion& c) {
  if (c.done()) return;
  on->report_tally();
  fiber* next = nullptr;
  try {
    next = &home.obtain_fiber(*on);
  } catch (...) {
    // No memory for a stack: run what is there on top of the waiting frame until the wait is over.
    while (!c.done()) {
      runnable* t = on->deque.pop();
      if (t == nullptr) {
        home.settle(*on);
        os_env::yield();
        t = home.take_submitted(*on);
      }
      if (t != nullptr && t->run == &resume) {
        next = static_cast<resumption&>(*t).self;  // there is a fiber to go on with, after all
        break;
      }
      while (t != nullptr && t->run != &resume) t = t->run(*t, *this);
      if (t != nullptr) home.make_runnable(static_cast<resumption&>(*t));
    }
    if (next == nullptr) return;
  }
  worker& w = *on;
  if (home.on_fiber != nullptr) home.on_fiber(home, w, *this, true);
  awaited_ = &c;
  next->on = &w;
  w.current = next;
  flow::switch_to(flow_, next->flow_, {&after_park, this});
  if (home.on_fiber != nullptr) home.on_fiber(home, *on, *this, false);
}

/// On the new fiber: the parked one has been left completely, so others may be told of it.
inline void fiber::after_park(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  worker& w = *f.on;  // still the worker that parked it: nobody can have resumed it
  core& home = f.home;
  if (!f.awaited_->enlist(f.waiter_)) home.push(w, f.resume_item);  // done in the meantime
}

inline void fiber::wake(completion_waiter& w) noexcept {
  fiber& f = *static_cast<parked_waiter&>(w).self;
  f.home.make_runnable(f.resume_item);
}

inline runnable* fiber::resume(runnable& self, fiber& on) {
  on.on->report_tally();
  on.switch_and_become_spare(*static_cast<resumption&>(self).self);
  return nullptr;  // the spare fiber has been taken up again: its loop looks for work
}

inline void fiber::switch_and_become_spare(fiber& to) {
  worker& w = *on;
  to.on = &w;
  w.current = &to;
  flow::switch_to(flow_, to.flow_, {&after_leaving_spare, this});
}

inline void fiber::after_leaving_spare(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  worker& w = *f.on;
  f.next_spare = w.spare;
  w.spare = &f;
}

}  // namespace heist::detail
