// Bodies of helper.hpp.
#pragma once

#include "heist/core/executor/helper.hpp"

#include <utility>  // exchange

#include "heist/core/fiber/current.hpp"

namespace heist::detail {

/// In ticks. place_patience: for so long a helper waits for a worker that is about to fall asleep. refused_often: it waits
/// only if another call, not longer ago than this, found nobody asleep either.
inline constexpr std::uint64_t place_patience = 20'000, refused_often = 400'000;
/// In ticks: a wish after which a call is refused sooner was not worth the sleep. And how many wishes are left out at most.
inline constexpr std::uint64_t place_lasts = 5'000'000;
inline constexpr std::uint32_t most_forgone = 255;
/// The same where ticks are slow: rounds of eight relax instructions, and attempts to borrow.
inline constexpr unsigned most_rounds = 256, most_attempts = 8;

HEIST_BODY void release_slot(worker& w, bool has_helper) noexcept {
  if (w.scheduler.limit != nullptr) w.scheduler.limit->end(w);
  // A fiber that may resume on this thread only would resume on the helper's.
  if (!has_helper && w.pinned_fibers == 0) w.slot.lend();
}

HEIST_BODY bool keep_slot(worker& w) noexcept {
  return w.slot.keep();
}

HEIST_BODY void reclaim_slot(worker& w, bool has_helper) noexcept {
  if (!has_helper) w.slot.take_back();
  if (w.scheduler.limit != nullptr) w.scheduler.limit->begin(w);
}

/// For a helper: the worker without a thread or one that sleeps, or null.
HEIST_COLD_BODY worker* core::borrow_worker() noexcept {
  std::size_t const lent =
      has_caller_place_ ? threaded_workers() : outer_gate_->lend();  // the only gate: there is no extension
  if (lent == event_count<>::none) return nullptr;
  worker& w = *workers[lent];
  if (w.slot.borrow()) {
    if (limit == nullptr || limit->try_begin(w)) return &w;
    w.slot.give_back();
  }
  return_to_sleep(w);
  return nullptr;
}

/// Nobody sleeps. If that was so a short time before, too, asks a worker that searches to sleep, and waits a little. Null
/// if that takes too long. A wish that nobody has seen stays: perhaps the worker that searches gets a processor only
/// when this thread waits. By the only helper.
HEIST_COLD_BODY worker* core::wait_for_place() noexcept {
  std::uint64_t const since = os_env::ticks();
  bool const often = since - std::exchange(last_refused_, since) < refused_often;
  if (!often || has_caller_place_ || outer_gate_->never_sleeps() || outer_gate_->thieves() == 0) return nullptr;
  if (last_wish_ != 0) {
    // Where others wake the workers again the last wish was of little use. Then fewer wishes follow.
    bool const was_lost_soon = since - std::exchange(last_wish_, 0) < place_lasts;
    left_to_forgo_ = forgo_ = was_lost_soon ? (forgo_ < most_forgone ? 2 * forgo_ + 1 : forgo_) : 0;
  }
  if (left_to_forgo_ != 0) {
    --left_to_forgo_;
    return nullptr;
  }
  place_wish none = place_wish::none;
  if (wish_.compare_exchange_strong(none, place_wish::wanted, std::memory_order_relaxed))
    last_wish_ = since;  // relaxed: a hint
  unsigned attempts = 0;
  for (unsigned rounds = 0; rounds != most_rounds && attempts != most_attempts; ++rounds) {
    if (outer_gate_->notifier().maybe_waiting()) {
      ++attempts;  // it may be about to lend its slot
      if (worker* const w = borrow_worker(); w != nullptr) {
        wish_.store(place_wish::none, std::memory_order_relaxed);  // relaxed: a hint
        return w;
      }
    }
    for (int i = 0; i != 8; ++i) os_env::relax();
    bool const is_given = wish_.load(std::memory_order_relaxed) == place_wish::given;  // relaxed: a hint
    if (os_env::ticks() - since > (is_given ? place_patience : place_patience / 8)) break;
  }
  withdraw_gift();
  return nullptr;
}

HEIST_COLD_BODY bool core::take_wish(worker const& w) noexcept {
  if (w.has_helper || w.pinned_fibers != 0) return false;  // its place cannot be lent
  place_wish wanted = place_wish::wanted;
  return wish_.compare_exchange_strong(wanted, place_wish::given, std::memory_order_relaxed);  // relaxed: a hint
}

HEIST_COLD_BODY void core::withdraw_gift() noexcept {
  if (wish_.load(std::memory_order_relaxed) != place_wish::given) return;  // relaxed: a hint
  place_wish given = place_wish::given;
  wish_.compare_exchange_strong(given, place_wish::none, std::memory_order_relaxed);  // relaxed: a hint
}

HEIST_COLD_BODY void core::give_worker_back(worker& w) noexcept {
  if (limit != nullptr) limit->end(w);
  w.slot.give_back();
  return_to_sleep(w);
}

HEIST_COLD_BODY void core::return_to_sleep(worker& w) noexcept {
  auto const any_work = [&] { return work_for(w) || stopping(); };
  if (is_for_caller(w)) {
    // One of each is enough until the next call; others may lack them.
    if (w.cached != nullptr && w.cached->next_cached != nullptr) give_up_cached(w);
    if (w.unused != nullptr && w.unused->next_cached != nullptr) give_up_unused(w);
    return outer_gate_->leave(any_work);
  }
  ask_all(w);  // as before any sleep
  outer_gate_->put_back(w.number, any_work);
}

/// From here on the calling thread is the worker, on the fiber that it is about to switch to.
HEIST_COLD_BODY void core::place_helper(helper& me, worker& w, fiber& first) noexcept {
  me.boot_of_host = std::exchange(w.boot, &me.created);
  me.sleeps_on = w.current.load(std::memory_order_relaxed);  // relaxed: came with the slot
  w.bed = static_cast<std::uint32_t>(worker_count);
  w.has_helper = true;
  w.active = true;
  w.active_since = os_env::ticks();
  w.state.store(worker::running, std::memory_order_relaxed);  // relaxed: for people
  set_this_worker(&w);
  first.start_helper(me);
  first.worker = &w;
  w.current.store(&first, std::memory_order_release);  // release: see worker::current
  w.gate->set_active();
}

HEIST_COLD_BODY bool core::run_as_helper(async_base& task) {
  check_process();
  if (!has_slot_for_helper() || extension != nullptr || on_fiber != nullptr) return false;
  if (has_helper_.exchange(true, std::memory_order_acquire)) return false;  // acquire: pairs with the last one's end
  worker* w = borrow_worker();  // kept: the thread is this worker until it has left
  if (w == nullptr) w = wait_for_place();
  fiber* first = nullptr;
  if (w != nullptr) {
    try {
      first = &acquire_unused(*w);
    } catch (...) {
      give_worker_back(*w);
    }
  }
  unsigned const wave = work.current_wave();
  bool const open = first != nullptr && work.enter_open(1, wave);
  if (!open) {
    if (first != nullptr) {
      first->next_cached = std::exchange(w->unused, first);
      give_worker_back(*w);
    }
    has_helper_.store(false, std::memory_order_release);  // release: as above
    if (first != nullptr) reject_while_stopping();
    return false;
  }
  task.wave = static_cast<std::uint8_t>(wave);
  helper me{*w, task};
  place_helper(me, *w, *first);
  fiber_context::switch_to(me.created, first->own_fiber_context(), {nullptr, nullptr});
  work.leave(wave);
  return true;
}

HEIST_COLD_BODY void fiber::start_helper(helper& g) noexcept {
  called_by = nullptr;
  interrupt = nullptr;
  fiber_context_.start(&helper::begin, this, &g);
}

HEIST_COLD_BODY int helper::begin(void* argument, void* me) noexcept {
  fiber& self = *static_cast<fiber*>(argument);
  helper& g = *static_cast<helper*>(me);
  self.scheduler.modes().install();
  self.running.store(g.task, std::memory_order_relaxed);  // relaxed: its own, or for people
  if (runnable* const next = g.task->run(*g.task, self); next != nullptr) self.scheduler.push(*self.worker, *next);
  self.running.store(nullptr, std::memory_order_relaxed);  // relaxed: as above
  if (self.worker == g.of && g.of->pinned_fibers == 0) {
    // Still on the helper's thread, which carries that worker until this very place.
    g.flush(self);
    fiber_context::leave(self.own_fiber_context(), g.created, {&after_leaving<true>, &g});
    return 1;  // called again, as a fresh one
  }
  self.scheduler.make_runnable_on(*g.of, g);  // and `g` may be gone
  core::finish_child(self);
  return 1;
}

/// As a task of the loop that the helper runs meanwhile.
HEIST_COLD_BODY runnable* helper::leave_loop(runnable& task, fiber& self) {
  helper& g = static_cast<helper&>(task);
  // They must resume on this thread, or a frame below waits for the end of a task on top.
  if (g.of->pinned_fibers != 0 || self.tasks_on_top != 0) {
    os_env::yield();
    self.scheduler.make_runnable_on(*g.of, g);
    return nullptr;
  }
  self.running.store(nullptr, std::memory_order_relaxed);  // relaxed: its own
  g.flush(self);
  if constexpr (fiber_context::abandons) {
    fiber_context::leave(self.own_fiber_context(), g.created, {&after_leaving<true>, &g});
  } else {
    fiber_context::switch_to(self.own_fiber_context(), g.created, {&after_leaving<false>, &g});
  }
  return nullptr;  // taken up again as a spare fiber
}

/// The last that the helper does as a worker.
HEIST_COLD_BODY void helper::flush(fiber& self) noexcept {
  worker& w = *of;  // kept: no code of a user's runs any more
  left = &self;
  w.scheduler.flush(w);
  w.active = false;
  w.gate->set_inactive();
}

/// On the helper's own stack.
template <bool Unused>
void helper::after_leaving(void* me) noexcept {
  helper& g = *static_cast<helper*>(me);
  worker& w = *g.of;  // kept: until it is given back
  core& scheduler = w.scheduler;
  fiber*& list = Unused ? w.unused : w.cached;
  g.left->next_cached = std::exchange(list, g.left);
  w.boot = g.boot_of_host;
  w.bed = w.number;
  w.has_helper = false;
  w.state.store(scheduler.is_for_caller(w) ? worker::vacant : worker::asleep,
                std::memory_order_relaxed);                 // relaxed: for people
  w.current.store(g.sleeps_on, std::memory_order_release);  // release: see worker::current
  set_this_worker(nullptr);
  scheduler.give_worker_back(w);
  scheduler.helper_has_left();
}

HEIST_COLD_BODY void core::helper_has_left() noexcept {
  has_helper_.store(false, std::memory_order_release);  // release: pairs with run_as_helper()
}

}  // namespace heist::detail
