// How fibers park and go on (README.md, "Parking"). Bodies of fiber and of core's fiber members.
#pragma once

#include <cstdint>
#include <utility>  // exchange, move

#include "heist/sched/core.hpp"
#include "heist/sched/replay_run.hpp"
#include "heist/sched/steal_log.hpp"

namespace heist::detail {

/// Null at the cap while trim() has some fibers, which come back soon.
HEIST_BODY fiber* core::make_fiber(worker& w) {
  unsigned colour = 0;
  {
    spin_guard guard{lock_};
    if (fiber_count_ == max_fibers_) {
      if (trims_chain_) return nullptr;
      refuse_fiber();
    }
    colour = fiber_count_++;
  }
  std::unique_ptr<fiber> made;
  try {
    made = std::make_unique<fiber>(*this, stack::map(stack_size_, fiber::slot_bytes, guard_size_), colour,
                                   worker_count == 1, order);
  } catch (...) {
    spin_guard guard{lock_};
    --fiber_count_;
    throw;
  }
  fiber& f = *made;
  f.on = &w;
  // Reserving and adding under a lock that must not be held across an allocation: so the list is one of links.
  spin_guard guard{lock_};
  made->next_of_all = std::move(fibers_);
  fibers_ = std::move(made);
  return &f;
}

HEIST_BODY void core::refuse_fiber() const {
  throw stack_error{
      fmt::format("all {} fiber stacks of this executor are in use, or kept by other workers. Each task that waits "
                  "needs one, and each child-first fork. Let "
                  "fewer tasks wait at a time, fork less deeply, or raise options::max_fibers.",
                  max_fibers_)};
}

/// Both under the lock.
HEIST_BODY fiber* core::take_chain(os_env::atomic<fiber*>& chains) noexcept {
  fiber* const first = chains.load(std::memory_order_relaxed);  // relaxed: under the lock, as all stores
  if (first == nullptr) return nullptr;
  chains.store(first->next_chain, std::memory_order_relaxed);  // relaxed: under the lock
  // relaxed: under the lock
  if (&chains == &spare_chains_ || &chains == &fresh_chains_) used_chains_.fetch_sub(1, std::memory_order_relaxed);
  return first;
}

HEIST_BODY void core::put_chain(os_env::atomic<fiber*>& chains, fiber& first) noexcept {
  first.next_chain = chains.load(std::memory_order_relaxed);  // relaxed: under the lock, as all stores
  chains.store(&first, std::memory_order_relaxed);            // relaxed: whoever follows it takes the lock
  // relaxed: under the lock
  if (&chains == &spare_chains_ || &chains == &fresh_chains_) used_chains_.fetch_add(1, std::memory_order_relaxed);
}

/// The first of `mine`, else of a list that somebody has given up, the rest of which becomes `mine`; or null.
HEIST_BODY fiber* core::take_kept(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept {
  if (mine == nullptr) {
    if (chains.load(std::memory_order_relaxed) == nullptr) return nullptr;  // relaxed: a hint
    spin_guard guard{lock_};
    mine = take_chain(chains);
    if (mine == nullptr) return nullptr;
  }
  return std::exchange(mine, mine->next_spare);
}

HEIST_BODY void core::give_up(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept {
  while (fiber* const first = mine) {
    // In portions: whoever takes one must not get all there are.
    fiber* last = first;
    for (std::uint32_t n = 1; n != worker::keeps_fibers && last->next_spare != nullptr; ++n) last = last->next_spare;
    mine = std::exchange(last->next_spare, nullptr);
    spin_guard guard{lock_};
    put_chain(chains, *first);
  }
}

HEIST_BODY void core::give_up_spare(worker& w) noexcept {
  w.spare_come = 0;
  give_up(w.spare, spare_chains_);
}

HEIST_BODY void core::give_up_fresh(worker& w) noexcept {
  w.fresh_come = 0;
  give_up(w.fresh, fresh_chains_);
}

HEIST_BODY void core::give_up_fibers(worker& w) noexcept {
  give_up_spare(w);
  give_up_fresh(w);
}

HEIST_BODY fiber& core::obtain_fresh(worker& w) {
  for (;;) {
    fiber* f = take_kept(w.fresh, fresh_chains_);
    if (f == nullptr) f = take_kept(w.fresh, trimmed_fresh_chains_);
    if (f == nullptr) f = make_fiber(w);
    if (f != nullptr) return *f;
    os_env::yield();
  }
}

HEIST_BODY fiber& core::obtain_fiber(worker& w) {
  if (fiber* const f = take_kept(w.spare, spare_chains_); f != nullptr) return *f;
  if (fiber* const f = take_kept(w.spare, trimmed_spare_chains_); f != nullptr) return *f;
  fiber& f = obtain_fresh(w);
  f.start_loop();
  return f;
}

/// Without memory for a longer deque or another fiber: what would have waited runs here and now.
HEIST_BODY worker& core::run_without_memory(worker& w, runnable& r) {
  fiber& on = *w.current.load(std::memory_order_relaxed);  // relaxed: its own
  interrupted_by const none{on, nullptr};
  beside_its_task const unknown{on};
  for (runnable* t = &r; t != nullptr;) t = t->run(*t, on);
  return *on.on;
}

HEIST_BODY void core::published(worker& w) noexcept {
  if (!w.alone) w.gate->pushed();
}

HEIST_BODY void core::published_continuations(worker& w) noexcept {
  if (!w.alone) w.gate->pushed_here();
}

HEIST_BODY void core::let_go_on(fiber& f) {
  if (f.seat != nullptr) {
    f.seat->go_on(f);
  } else if (f.no_migrate != 0 || f.stays()) {
    make_runnable_on(*f.on, f.resume_item);
  } else if (squad_task* const task = f.bound(); task == nullptr) {
    make_runnable(f.resume_item);
  } else if (task->suspended) {
    squads.add_pinned(*task->in, f.resume_item);
  } else {
    squads.add_ready(*task->in, f.resume_item);
  }
}

HEIST_BODY calling_frame* core::take_own_continuation(worker& w, fiber& child) noexcept {
  if (w.continuation_top == w.continuations.first()) return nullptr;
  continuation_slot* const at = w.continuation_top - 1;
  calling_frame& frame = *child.called_by;  // not from the slot, which a thief may have emptied
  frame.overtaken = true;                   // read by the child only
  bool const was_private = at >= w.continuations.split();
  if (!w.continuations.join_is_plain(at)) {
    auto const outcome = w.continuations.join(at);
    if (outcome.published) published_continuations(w);
    if (!outcome.mine) {
      forget_continuations(w);
      return nullptr;
    }
  }
  if (was_private) at->make_public();
  w.continuation_top = at;
  return &frame;
}

HEIST_BODY void core::forget_continuations(worker& w) noexcept {
  for (continuation_slot* s = w.continuations.first(); s != w.continuation_top; ++s) {
    // acquire: pairs with steal_continuation; the thief is two instructions away from it
    while (s->frame.load(std::memory_order_acquire) != nullptr) os_env::yield();
  }
  w.continuations.reclaim(w.continuations.first());
  w.continuation_top = w.continuations.first();
}

HEIST_BODY runnable* core::steal_continuation(worker& robbed, steal_status& status) noexcept {
  auto const loot = robbed.continuations.steal();
  status = loot.status;
  if (loot.status != steal_status::stolen) return nullptr;
  calling_frame& frame = *loot.item->frame.load(std::memory_order_relaxed);  // relaxed: came with the steal
  fiber& f = *frame.parent;
  frame_record* parent = nullptr;
  std::uint32_t branch = 0;
  if (f.order == fork_order::recorded) {
    frame_record const& child = static_cast<recorded_frame&>(frame).place;
    parent = child.parent;
    branch = child.index;
  }
  loot.item->frame.store(nullptr, std::memory_order_release);  // release: the owner may use the slot again
  if (parent != nullptr) steal_log::note(parent, branch, this_worker()->number, robbed.number);
  // It leaves the worker on which its own caller, stolen before, has a slot. Only f itself reads this.
  if (f.called_by != nullptr) f.called_by->overtaken = true;
  return &f.resume_item;
}

HEIST_BODY void core::leave_child(fiber& child) noexcept {
  child.interrupt = nullptr;
  child.called_by = nullptr;
  worker& w = *child.on;
  if constexpr (!flow::abandons) {
    if (fiber* const loop = w.spare; loop != nullptr) {
      w.spare = loop->next_spare;
      loop->on = &w;
      w.current.store(loop, std::memory_order_release);  // release: see worker::current
      child.leave_to(*loop);
      return;
    }
  }
  fiber::run_loop(&child, nullptr);
}

HEIST_BODY void fiber::start_loop() noexcept {
  called_by = nullptr;  // of the child that was here before
  interrupt = nullptr;
  flow_.start(&run_loop, this, nullptr);
}

HEIST_BODY int fiber::run_loop(void* self, void*) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  f.home.run_loop(f);
  // The loop ends when the executor stops: back to the stack that the worker's thread was born with, for ever.
  flow::switch_to(f.own_flow(), *f.on->boot, {nullptr, nullptr}, true);
  return 1;
}

HEIST_BODY void fiber::queue_rest() {
  // acq_rel: either the item is in a deque and whoever runs it finds the tasks, or it goes there now
  if (!rest_item_.queued.exchange(true, std::memory_order_acq_rel)) home.push(*on, rest_item_);
}

/// Before this fiber parks: what its frames have forked and not joined can be had from the deque.
HEIST_BODY void fiber::expose_rest() {
  fork_slot* const end = top();
  label(end);
  bool const more = tasks.publish_all(end);
  if (more || tasks.maybe_stealable()) queue_rest();
}

HEIST_BODY runnable* fiber::run_rest(runnable& self, fiber& on) {
  on.on->report_tally();
  auto& item = static_cast<rest&>(self);
  fiber& parked = *item.self;
  item.queued.exchange(false, std::memory_order_acq_rel);  // acq_rel: as in queue_rest
  auto const loot = parked.tasks.steal();
  // acq_rel: as in queue_rest
  if (parked.tasks.maybe_stealable() && !item.queued.exchange(true, std::memory_order_acq_rel))
    on.home.push(*on.on, item);
  if (loot.status != steal_status::stolen) return nullptr;
  on.run_stolen(*loot.item);
  return nullptr;
}

HEIST_BODY runnable* fiber::booty(fork_slot& slot) noexcept {
  booty_.slot = &slot;
  booty_.what = &fork_what;
  return &booty_;
}

HEIST_BODY runnable* fiber::run_booty(runnable& self, fiber& on) {
  fork_slot& slot = *static_cast<stolen_task&>(self).slot;
  on.on->report_tally();
  on.run_stolen(slot);
  return nullptr;
}

HEIST_BODY void fiber::run_stolen(fork_slot& slot) noexcept {
  slot.thief.store(this, std::memory_order_release);  // release: leap-frogging reads this fiber
  {
    interrupted_by const part_of{*this, slot.interrupt};
    beside_its_task const unknown{*this};
    slot.run(slot, *this);
  }
  slot.finished.complete();
}

/// What the worker goes on with while this fiber waits. Throws stack_error or bad_alloc.
HEIST_BODY fiber& fiber::make_way() {
  on->report_tally();
  for (unstarted_children* s = unstarted; s != nullptr; s = s->older) s->start(*s);
  expose_rest();
  if (calling_frame* const frame = home.take_own_continuation(*on, *this); frame != nullptr) return *frame->parent;
  return home.obtain_fiber(*on);
}

/// As above; null without memory.
HEIST_BODY fiber* fiber::try_make_way() noexcept {
  try {
    return &make_way();
  } catch (...) {
    return nullptr;
  }
}

HEIST_BODY void fiber::wait_for(completion& c, wait_reason const& why) {
  if (c.done()) return;
  if (fiber* const next = try_make_way(); next != nullptr) {
    park(c, *next, why);
  } else {
    wait_on_top(c);
  }
}

HEIST_BODY void fiber::wait_or_throw(completion& c, wait_reason const& why) {
  if (!c.done()) park(c, make_way(), why);
}

HEIST_BODY bool fiber::wait_for(completion& c, replay_seat const& where) {
  fiber* const next = try_make_way();
  where.leave(*this, next != nullptr);
  seat = &where;
  bool parked = true;
  if (next != nullptr) {
    park(c, *next);
  } else {
    parked = wait_on_top(c);
  }
  seat = nullptr;
  if (parked && where) turnless = false;  // it has come in its turn
  return parked;
}

HEIST_BODY void fiber::park(completion& c, fiber& next, wait_reason const& why) {
  worker& w = *on;
  HEIST_ASSERT(
      locks == 0 || no_migrate != 0,
      "a task waits at a join, or for a future, while it holds a heist::mutex: it may go on on another thread, "
      "which must not unlock it; mend it by unlocking before, or by a heist::no_migrate guard");
  if (home.on_fiber != nullptr) home.on_fiber(home, w, *this, fiber_event::parks);
  awaited_ = &c;
  runnable const* const task = running.load(std::memory_order_relaxed);  // relaxed: its own
  task_view view{task_kind::other, this, nullptr};
  if (task != nullptr && task->what != nullptr) task->what->operations->describe(*task, view);
  note.begin(view.kind, view.name, why);
  next.on = &w;
  w.current.store(&next, std::memory_order_release);  // release: see worker::current
  // A fiber with nothing public looks at its next fork anyway.
  if (next.tasks.maybe_stealable()) w.attention.ask_if_raised([&w] { core::ask_to_look(w); });
  flow::switch_to(flow_, next.flow_, {&after_park, this});
  note.end();
  if (home.on_fiber != nullptr) home.on_fiber(home, *on, *this, fiber_event::goes_on);
}

/// On the new fiber: the parked one has been left completely, so others may be told of it.
HEIST_BODY void fiber::after_park(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  worker& w = *f.on;  // still the worker that parked it: nobody can have resumed it
  core& home = f.home;
  if (squad_task* const task = f.bound(); task != nullptr && task->suspended) {
    if (home.on_fiber != nullptr) home.on_fiber(home, w, f, fiber_event::leaves);
    home.release_squad(w, *task);
  }
  replay_run* const told = f.seat != nullptr ? f.seat->counts_in() : nullptr;  // read now: then others may run f
  if (!f.awaited_->enlist(f.waiter_)) home.let_go_on(f);                       // done in the meantime
  if (told != nullptr) told->one_less();
}

HEIST_BODY void fiber::wake(completion_waiter& w) noexcept {
  fiber& f = *static_cast<parked_waiter&>(w).self;
  f.home.let_go_on(f);
}

HEIST_BODY runnable* fiber::resume(runnable& self, fiber& on) {
  on.on->report_tally();
  fiber& f = *static_cast<resumption&>(self).self;
  if (squad_task* const task = f.bound(); task != nullptr) f.come_back(*task, *on.on);
  on.switch_and_become_spare(f);
  return nullptr;  // the spare fiber has been taken up again: its loop looks for work
}

template <bool Fresh>
void fiber::after_leaving(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  worker& w = *f.on;
  fiber*& list = Fresh ? w.fresh : w.spare;
  f.next_spare = list;
  list = &f;
  f.running.store(nullptr, std::memory_order_relaxed);  // relaxed: its own; a child's task is not what its loop ran
  // Where frames always go the same way (replay), one worker would keep all fibers.
  if constexpr (Fresh) {
    if (++w.fresh_come == worker::keeps_fibers) f.home.give_up_fresh(w);
  } else {
    if (++w.spare_come == worker::keeps_fibers) f.home.give_up_spare(w);
  }
  // What the fiber that goes on has forked can be had from now on, and nobody has been told.
  fiber& now = *w.current.load(std::memory_order_relaxed);  // relaxed: its own
  if (now.tasks.maybe_stealable()) f.home.published(w);
}

/// Before this fiber, which runs part of the subtree of `task`, goes on on `w`.
HEIST_BODY void fiber::come_back(squad_task& task, worker& w) noexcept {
  if (task.suspended && no_migrate == 0) {  // it came through a pool
    task.in = w.in;
    task.holds = !w.takes_beside;
  }
  if (home.on_fiber != nullptr)
    home.on_fiber(home, w, *this, task.suspended ? fiber_event::enters : fiber_event::moves);
}

HEIST_BODY void fiber::switch_and_become_spare(fiber& to) {
  worker& w = *on;
  to.on = &w;
  w.current.store(&to, std::memory_order_release);  // release: see worker::current
  w.attention.ask_if_raised([&w] { core::ask_to_look(w); });
  if constexpr (flow::abandons) {
    flow::leave(flow_, to.flow_, {&after_leaving<true>, this});
  } else {
    flow::switch_to(flow_, to.flow_, {&after_leaving<false>, this});
  }
}

/// A child that has ended, and nobody to return to.
HEIST_BODY void fiber::leave_to(fiber& loop) noexcept {
  flow::leave(flow_, loop.flow_, {&after_leaving<true>, this});
}

}  // namespace heist::detail
