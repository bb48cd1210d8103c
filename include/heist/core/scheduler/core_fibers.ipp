// How fibers park and resume (README.md, "Parking"). Bodies of fiber and of core's fiber members.
#pragma once

#include <cstdint>
#include <utility>  // exchange, move

#include "heist/core/base/format.hpp"

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// Null at the cap while trim() has some fibers, which come back soon.
HEIST_COLD_BODY fiber* core::make_fiber(worker& w) {
  unsigned color = 0;
  {
    spin_guard guard{lock_};
    if (fiber_count_ == max_fibers_) {
      if (trims_list_) return nullptr;
      reject_fiber();
    }
    color = fiber_count_++;
  }
  unique_ptr<fiber> made;
  try {
    made = make_unique<fiber>(*this, stack::map(stack_size_, fiber::slot_bytes, guard_size_), color, worker_count == 1,
                              order);
  } catch (...) {
    spin_guard guard{lock_};
    --fiber_count_;
    throw;
  }
  fiber& f = *made;
  f.worker = &w;
  // Reserving and adding under a lock that must not be held across an allocation: so the list is one of links.
  spin_guard guard{lock_};
  made->next_of_all = std::move(fibers_);
  fibers_ = std::move(made);
  return &f;
}

HEIST_BODY void core::reject_fiber() const {
  throw stack_error{
      format_text("all {} fiber stacks of this executor are in use, or kept by other workers. Each task that waits "
                  "needs one, and each child-first fork. Let "
                  "fewer tasks wait at a time, fork less deeply, or raise options::max_fibers.",
                  {max_fibers_})};
}

/// Both under the lock.
HEIST_BODY fiber* core::take_chain(os_env::atomic<fiber*>& chains) noexcept {
  fiber* const first = chains.load(std::memory_order_relaxed);  // relaxed: under the lock, as all stores
  if (first == nullptr) return nullptr;
  chains.store(first->next_chain, std::memory_order_relaxed);  // relaxed: under the lock
  // relaxed: under the lock
  if (&chains == &cached_chains_ || &chains == &unused_chains_) used_chains_.fetch_sub(1, std::memory_order_relaxed);
  return first;
}

HEIST_BODY void core::put_chain(os_env::atomic<fiber*>& chains, fiber& first) noexcept {
  first.next_chain = chains.load(std::memory_order_relaxed);  // relaxed: under the lock, as all stores
  chains.store(&first, std::memory_order_relaxed);            // relaxed: a reader that follows it takes the lock
  // relaxed: under the lock
  if (&chains == &cached_chains_ || &chains == &unused_chains_) used_chains_.fetch_add(1, std::memory_order_relaxed);
}

/// The first of `mine`, else of a list that a worker has given up, the rest of which becomes `mine`; or null.
HEIST_BODY fiber* core::take_kept(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept {
  if (mine == nullptr) {
    if (chains.load(std::memory_order_relaxed) == nullptr) return nullptr;  // relaxed: a hint
    spin_guard guard{lock_};
    mine = take_chain(chains);
    if (mine == nullptr) return nullptr;
  }
  return std::exchange(mine, mine->next_cached);
}

HEIST_COLD_BODY void core::give_up(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept {
  while (fiber* const first = mine) {
    // In portions: a worker that takes one must not get all there are.
    fiber* last = first;
    for (std::uint32_t n = 1; n != worker::keeps_fibers && last->next_cached != nullptr; ++n) last = last->next_cached;
    mine = std::exchange(last->next_cached, nullptr);
    spin_guard guard{lock_};
    put_chain(chains, *first);
  }
}

HEIST_BODY void core::give_up_cached(worker& w) noexcept {
  w.cached_added = 0;
  give_up(w.cached, cached_chains_);
}

HEIST_BODY void core::give_up_unused(worker& w) noexcept {
  w.unused_added = 0;
  give_up(w.unused, unused_chains_);
}

HEIST_COLD_BODY void core::give_up_fibers(worker& w) noexcept {
  give_up_cached(w);
  give_up_unused(w);
}

HEIST_BODY fiber& core::acquire_unused(worker& w) {
  for (;;) {
    fiber* f = take_kept(w.unused, unused_chains_);
    if (f == nullptr) f = take_kept(w.unused, trimmed_unused_chains_);
    if (f == nullptr) f = make_fiber(w);
    if (f != nullptr) return *f;
    os_env::yield();
  }
}

HEIST_BODY fiber* core::take_cached(worker& w) noexcept {
  if (fiber* const f = take_kept(w.cached, cached_chains_); f != nullptr) return f;
  return take_kept(w.cached, trimmed_cached_chains_);
}

HEIST_BODY fiber& core::acquire_fiber(worker& w) {
  if (fiber* const f = take_cached(w); f != nullptr) return *f;
  fiber& f = acquire_unused(w);
  f.start_loop();
  return f;
}

/// There is no memory for a longer deque or another fiber: the task that would have waited runs here and now.
HEIST_BODY worker& core::run_without_memory(worker& w, runnable& r) {
  fiber& self = *w.current.load(std::memory_order_relaxed);  // relaxed: its own
  interrupted_above const none{self, nullptr};
  outside_its_task const unknown{self};
  for (runnable* t = &r; t != nullptr;) t = t->run(*t, self);
  return *self.worker;
}

HEIST_BODY void core::published(worker& w) noexcept {
  if (!w.alone) w.gate->pushed();
}

HEIST_BODY void core::published_continuations(worker& w) noexcept {
  if (!w.alone) w.gate->pushed_here();
}

HEIST_BODY void core::make_ready(fiber& f) {
  if (f.resumes != nullptr) {
    f.resumes->make_ready(f);
  } else if (f.no_migrate != 0) {
    make_runnable_on(*f.worker, f.resume_item);
  } else if (resume_rule* const rule = f.rule_of_task(); rule != nullptr) {
    rule->make_ready(f);
  } else {
    if (worker* const w = own_worker(); w != nullptr) w->wakes();
    make_runnable(f.resume_item);
  }
}

HEIST_BODY caller_frame* core::take_own_continuation(worker& w, fiber& child) noexcept {
  if (w.continuation_top == w.continuations.first()) return nullptr;
  continuation_slot* const at = w.continuation_top - 1;
  caller_frame& frame = *child.called_by;  // a thief may have emptied the slot
  frame.continuation_stolen = true;        // read by the child only
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

HEIST_BODY runnable* core::steal_continuation(worker& stolen_from, steal_status& status) noexcept {
  auto const stolen_task = stolen_from.continuations.steal();
  status = stolen_task.status;
  if (stolen_task.status != steal_status::stolen) return nullptr;
  caller_frame& frame = *stolen_task.item->frame.load(std::memory_order_relaxed);  // relaxed: came with the steal
  fiber& f = *frame.parent;
  executor_extension const* const extended = stolen_from.scheduler.extension.get();
  steal_extension const* const notified = extended == nullptr ? nullptr : extended->steals;
  frame_note note;
  if (notified != nullptr) note = notified->note_of(frame);
  stolen_task.item->frame.store(nullptr, std::memory_order_release);  // release: the owner may use the slot again
  if (note.frame != nullptr) notified->stolen(note, *this_worker(), stolen_from);
  // It leaves the worker on which its own caller, stolen before, has a slot. No fiber but f reads this.
  if (f.called_by != nullptr) f.called_by->continuation_stolen = true;
  return &f.resume_item;
}

HEIST_BODY void core::finish_child(fiber& child) noexcept {
  child.interrupt = nullptr;
  child.called_by = nullptr;
  worker& w = *child.worker;
  if constexpr (!fiber_context::abandons) {
    // Also one that another worker has given up. Otherwise a worker whose children lose their callers needs ever new
    // fibers, while the workers that steal gather loops.
    if (fiber* const loop = w.scheduler.take_cached(w); loop != nullptr) {
      loop->worker = &w;
      w.current.store(loop, std::memory_order_release);  // release: see worker::current
      child.leave_to(*loop);
      return;
    }
  }
  fiber::run_loop(&child, nullptr);
}

HEIST_COLD_BODY fiber const& fiber_of_code(fiber const& of) noexcept {
  worker* const w = this_worker();
  // relaxed: its own
  return w != nullptr && &w->scheduler == &of.scheduler ? *w->current.load(std::memory_order_relaxed) : of;
}

HEIST_BODY void fiber::start_loop() noexcept {
  called_by = nullptr;  // the last child's
  interrupt = nullptr;
  fiber_context_.start(&run_loop, this, nullptr);
}

HEIST_BODY int fiber::run_loop(void* self, void*) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  f.scheduler.modes().install();  // the frame whose child began here may have had other modes
  f.scheduler.run_loop(f);
  // The loop ends when the executor stops: back to the stack that the worker's thread was born with, for ever.
  fiber_context::switch_to(f.own_fiber_context(), *f.worker->boot, {nullptr, nullptr}, true);
  return 1;
}

HEIST_BODY void fiber::queue_rest() {
  // acq_rel: either the item is in a deque and its runner finds the tasks, or it goes there now
  if (!rest_item_.queued.exchange(true, std::memory_order_acq_rel)) scheduler.push(*worker, rest_item_);
}

/// Called before this fiber parks: thieves can have its frames' unjoined forks from the deque.
HEIST_BODY void fiber::expose_rest() {
  fork_slot* const end = top();
  bool const more = [&] {
    fork_stack::owner_part const here{tasks};
    label(end);
    return tasks.publish_all(end);
  }();
  if (more || tasks.maybe_stealable()) queue_rest();
}

HEIST_BODY runnable* fiber::run_rest(runnable& task, fiber& self) {
  self.worker->report_pending_count();
  auto& item = static_cast<rest&>(task);
  fiber& parked = *item.self;
  item.queued.exchange(false, std::memory_order_acq_rel);  // acq_rel: as in queue_rest
  auto const stolen_task = parked.tasks.steal();
  // acq_rel: as in queue_rest
  if (parked.tasks.maybe_stealable() && !item.queued.exchange(true, std::memory_order_acq_rel))
    self.scheduler.push(*self.worker, item);
  if (stolen_task.status != steal_status::stolen) return nullptr;
  self.run_stolen(*stolen_task.item);
  return nullptr;
}

HEIST_BODY runnable* fiber::as_runnable(fork_slot& slot) noexcept {
  stolen_task_.slot = &slot;
  stolen_task_.what = &fork_what;
  return &stolen_task_;
}

HEIST_BODY runnable* fiber::run_stolen_task(runnable& task, fiber& self) {
  fork_slot& slot = *static_cast<stolen_task&>(task).slot;
  self.worker->report_pending_count();
  self.run_stolen(slot);
  return nullptr;
}

HEIST_BODY void fiber::run_stolen(fork_slot& slot) noexcept {
  slot.thief.store(this, std::memory_order_release);  // release: leap-frogging reads this fiber
  {
    interrupted_by const part_of{*this, slot.interrupt};
    outside_its_task const unknown{*this};
    fork_slot const* const below = std::exchange(stolen, &slot);
    slot.run_stolen(*this);
    stolen = below;
  }
  slot.finished.complete();
}

/// Returns the fiber that the worker continues with while this one waits. Throws stack_error or bad_alloc.
HEIST_BODY fiber& fiber::suspend() {
  worker->report_pending_count();
  for (pending_children* s = not_started; s != nullptr; s = s->older) s->start(*s);
  expose_rest();
  if (caller_frame* const frame = scheduler.take_own_continuation(*worker, *this); frame != nullptr)
    return *frame->parent;
  return scheduler.acquire_fiber(*worker);
}

/// The same; null if there is no memory.
HEIST_BODY fiber* fiber::try_suspend() noexcept {
  try {
    return &suspend();
  } catch (...) {
    return nullptr;
  }
}

HEIST_BODY void fiber::wait_for(completion& c, wait_reason const& why) {
  if (c.is_ready()) return;
  if (fiber* const next = try_suspend(); next != nullptr) {
    park(c, *next, why);
  } else {
    wait_on_top(c, why);
  }
}

HEIST_BODY void fiber::wait_or_throw(completion& c, wait_reason const& why) {
  if (!c.is_ready()) park(c, suspend(), why);
}

HEIST_BODY bool fiber::wait_for(completion& c, resume_rule& where) {
  fiber* const next = try_suspend();
  where.leaves(*this, next != nullptr);
  resumes = &where;
  bool parked = true;
  if (next != nullptr) {
    park(c, *next);
  } else {
    parked = wait_on_top(c);
  }
  resumes = nullptr;
  return parked;
}

HEIST_BODY void fiber::note_wait(wait_reason const& why, completion const* awaited) noexcept {
  runnable const* const task = running.load(std::memory_order_relaxed);  // relaxed: its own
  task_view view{task_kind::other, this, nullptr};
  if (task != nullptr && task->what != nullptr) task->what->operations->to_text(*task, view);
  note.begin(view.kind, view.name, why, {end_of_frames(), awaited, limits});
}

HEIST_BODY void fiber::park(completion& c, fiber& next, wait_reason const& why, void (*after)(void*) noexcept) {
  detail::worker& w = *worker;
  measurement_pause const waits{this};
  awaited_ = &c;
  note_wait(why, &c);
  if (scheduler.on_fiber != nullptr) scheduler.on_fiber(scheduler, w, *this, fiber_event::parks);
  std::uint32_t const pinned = no_migrate != 0 ? 1 : 0;
  w.pinned_fibers += pinned;
  next.worker = &w;
  w.current.store(&next, std::memory_order_release);  // release: see worker::current
  // A fiber with nothing public looks at its next fork anyway.
  if (next.tasks.maybe_stealable()) w.notification.ask_if_set([&w] { core::ask_to_look(w); });
  fiber_context::switch_to(fiber_context_, next.fiber_context_, {after, this});
  worker->pinned_fibers -= pinned;
  note.end();
  if (scheduler.on_fiber != nullptr) scheduler.on_fiber(scheduler, *worker, *this, fiber_event::resumes);
}

/// On the new fiber: the parked one has been left completely, so other workers may be told of it.
HEIST_BODY void fiber::after_park(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  core& scheduler = f.scheduler;
  resume_rule* const rule = f.resumes != nullptr ? f.resumes : f.rule_of_task();
  deferred_call const left = rule != nullptr ? rule->left(f) : deferred_call{};  // now: then other workers may run f
  if (!f.awaited_->add_entry(f.waiter_)) scheduler.make_ready(f);                // done in the meantime
  if (left.after != nullptr) left.after(left.of);
}

HEIST_BODY void fiber::wake(completion_waiter& w) noexcept {
  fiber& f = *static_cast<parked_waiter&>(w).self;
  f.scheduler.make_ready(f);
}

HEIST_BODY runnable* fiber::resume(runnable& task, fiber& self) {
  self.worker->report_pending_count();
  fiber& f = *static_cast<resumption&>(task).self;
  f.notify_returned(*self.worker);
  self.switch_and_become_cached(f);
  return nullptr;  // the spare fiber has been taken up again: its loop looks for work
}

template <bool Unused>
void fiber::after_leaving(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  detail::worker& w = *f.worker;
  fiber*& list = Unused ? w.unused : w.cached;
  f.next_cached = list;
  list = &f;
  f.running.store(nullptr, std::memory_order_relaxed);  // relaxed: its own; a child's task is not what its loop ran
  // Where frames always go the same way (replay), one worker would keep all fibers.
  if constexpr (Unused) {
    if (++w.unused_added == worker::keeps_fibers) f.scheduler.give_up_unused(w);
  } else {
    if (++w.cached_added == worker::keeps_fibers) f.scheduler.give_up_cached(w);
  }
  // Thieves can have the forks of the fiber that resumes from now on, and have not been told.
  fiber& now = *w.current.load(std::memory_order_relaxed);  // relaxed: its own
  if (now.tasks.maybe_stealable()) f.scheduler.published(w);
}

HEIST_BODY void fiber::switch_and_become_cached(fiber& to) {
  detail::worker& w = *worker;
  to.worker = &w;
  w.current.store(&to, std::memory_order_release);  // release: see worker::current
  w.notification.ask_if_set([&w] { core::ask_to_look(w); });
  if constexpr (fiber_context::abandons) {
    fiber_context::leave(fiber_context_, to.fiber_context_, {&after_leaving<true>, this});
  } else {
    fiber_context::switch_to(fiber_context_, to.fiber_context_, {&after_leaving<false>, this});
  }
}

/// A child that has ended, and has no caller to return to.
HEIST_BODY void fiber::leave_to(fiber& loop) noexcept {
  fiber_context::leave(fiber_context_, loop.fiber_context_, {&after_leaving<true>, this});
}

}  // namespace heist::detail
