// Bodies of guest.hpp.
#pragma once

#include "heist/core/executor/guest.hpp"

#include <utility>  // exchange

#include "heist/core/fiber/current.hpp"

namespace heist::detail {

HEIST_BODY void lend_seat(worker& w) noexcept {
  // A fiber that may resume on this thread only would resume on the guest's.
  if (w.pinned_fibers == 0) w.seat.lend();
}

HEIST_BODY bool keep_seat(worker& w) noexcept {
  return w.seat.keep();
}

HEIST_BODY void take_seat_back(worker& w) noexcept {
  w.seat.take_back([&w]() noexcept {
    w.gate->wake_one();
    if (w.home.something_from_outside()) w.home.call_attention();
  });
}

/// For a guest: a worker that sleeps, or null.
HEIST_COLD_BODY worker* core::borrow_worker() noexcept {
  for (auto const& w : workers) {
    if (w->seat.borrow()) return w.get();
  }
  return nullptr;
}

HEIST_COLD_BODY void core::give_worker_back(worker& w) noexcept {
  w.seat.give_back();
}

/// From here on the calling thread is the worker, on the fiber that it is about to switch to.
HEIST_COLD_BODY void core::seat_guest(guest& me, worker& w, fiber& first) noexcept {
  me.boot_of_host = std::exchange(w.boot, &me.born);
  me.sleeps_on = w.current.load(std::memory_order_relaxed);  // relaxed: came with the seat
  w.bed = static_cast<std::uint32_t>(worker_count);
  w.has_guest = true;
  w.active = true;
  w.active_since = os_env::ticks();
  w.doing.store(worker::running, std::memory_order_relaxed);  // relaxed: for people
  set_this_worker(&w);
  first.start_guest(me);
  first.worker = &w;
  w.current.store(&first, std::memory_order_release);  // release: see worker::current
  w.gate->become_active();
}

HEIST_COLD_BODY bool core::run_as_guest(async_base& task) {
  check_process();
  if (!has_bed_for_guest() || room != nullptr || on_fiber != nullptr) return false;
  if (has_guest_.exchange(true, std::memory_order_acquire)) return false;  // acquire: pairs with the last one's end
  worker* const w = borrow_worker();  // kept: the thread is this worker until it has left
  fiber* first = nullptr;
  if (w != nullptr) {
    try {
      first = &obtain_fresh(*w);
    } catch (...) {
      give_worker_back(*w);
    }
  }
  unsigned const wave = work.newest_wave();
  bool const open = first != nullptr && work.enter_open(1, wave);
  if (!open) {
    if (first != nullptr) {
      first->next_spare = std::exchange(w->fresh, first);
      give_worker_back(*w);
    }
    has_guest_.store(false, std::memory_order_release);  // release: as above
    if (first != nullptr) refuse_while_stopping();
    return false;
  }
  task.wave = static_cast<std::uint8_t>(wave);
  guest me{*w, task};
  seat_guest(me, *w, *first);
  fiber_context::switch_to(me.born, first->own_fiber_context(), {nullptr, nullptr});
  work.leave(wave);
  return true;
}

HEIST_COLD_BODY void fiber::start_guest(guest& g) noexcept {
  called_by = nullptr;
  interrupt = nullptr;
  fiber_context_.start(&guest::begin, this, &g);
}

HEIST_COLD_BODY int guest::begin(void* argument, void* me) noexcept {
  fiber& self = *static_cast<fiber*>(argument);
  guest& g = *static_cast<guest*>(me);
  self.home.modes().install();
  self.running.store(g.task, std::memory_order_relaxed);  // relaxed: its own, or for people
  if (runnable* const next = g.task->run(*g.task, self); next != nullptr) self.home.push(*self.worker, *next);
  self.running.store(nullptr, std::memory_order_relaxed);  // relaxed: as above
  if (self.worker == g.of && g.of->pinned_fibers == 0) {
    // Still on the guest's thread, which carries that worker until this very place.
    g.flush(self);
    fiber_context::leave(self.own_fiber_context(), g.born, {&after_leaving<true>, &g});
    return 1;  // called again, as a fresh one
  }
  self.home.make_runnable_on(*g.of, g);  // and `g` may be gone
  return fiber::run_loop(&self, nullptr);
}

/// As a task of the loop that the guest runs meanwhile.
HEIST_COLD_BODY runnable* guest::leave_loop(runnable& task, fiber& self) {
  guest& g = static_cast<guest&>(task);
  if (g.of->pinned_fibers != 0) {  // they must resume on this thread
    os_env::yield();
    self.home.make_runnable_on(*g.of, g);
    return nullptr;
  }
  self.running.store(nullptr, std::memory_order_relaxed);  // relaxed: its own
  g.wakes_host = true;
  g.flush(self);
  if constexpr (fiber_context::abandons) {
    fiber_context::leave(self.own_fiber_context(), g.born, {&after_leaving<true>, &g});
  } else {
    fiber_context::switch_to(self.own_fiber_context(), g.born, {&after_leaving<false>, &g});
  }
  return nullptr;  // taken up again as a spare fiber
}

/// The last that the guest does as a worker.
HEIST_COLD_BODY void guest::flush(fiber& self) noexcept {
  worker& w = *of;  // kept: no code of a user's runs any more
  left = &self;
  w.home.flush(w);
  wakes_host = wakes_host || !w.deque.maybe_empty() || self.tasks.maybe_stealable();
  w.active = false;
  w.gate->become_inactive();
}

/// On the guest's own stack.
template <bool Fresh>
void guest::after_leaving(void* me) noexcept {
  guest& g = *static_cast<guest*>(me);
  worker& w = *g.of;  // kept: until it is given back
  core& home = w.home;
  fiber*& list = Fresh ? w.fresh : w.spare;
  g.left->next_spare = std::exchange(list, g.left);
  w.boot = g.boot_of_host;
  w.bed = w.number;
  w.has_guest = false;
  w.doing.store(worker::asleep, std::memory_order_relaxed);  // relaxed: for people
  w.current.store(g.sleeps_on, std::memory_order_release);   // release: see worker::current
  set_this_worker(nullptr);
  bool const wakes = g.wakes_host;
  idle_gate<>& gate = *w.gate;
  home.give_worker_back(w);
  if (wakes) gate.wake_here();
  home.guest_has_left();
}

HEIST_COLD_BODY void core::guest_has_left() noexcept {
  has_guest_.store(false, std::memory_order_release);  // release: pairs with run_as_guest()
}

}  // namespace heist::detail
