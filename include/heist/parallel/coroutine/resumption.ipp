// Bodies of resumption.hpp.
#pragma once

#include "heist/parallel/coroutine/resumption.hpp"

#include <new>
#include <utility>  // exchange

#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/memory/outside_blocks.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool text_of_resumption(runnable const& self, task_view& view) noexcept {
  view = {task_kind::async, &self, "coroutine"};
  return false;  // the frame that it lies in may be gone when it returns
}
HEIST_COLD_BODY unsigned wave_of_resumption(runnable const& self) noexcept {
  return static_cast<resume_item const&>(self).wave;
}
inline constexpr described_operations resumption_operations{&text_of_resumption, &wave_of_resumption};
inline constexpr described resumption_what{&resumption_operations};

HEIST_BODY void transfer_loop::resume(transfer_loop*& place, std::coroutine_handle<> first, unsigned unit) {
  struct restore {
    transfer_loop*& place;
    transfer_loop* const outer;
    ~restore() { place = outer; }
  } const at_the_end{place, place};
  transfer_loop loop{first, nullptr, unit};
  place = &loop;
  for (; loop.running; loop.running = std::exchange(loop.next, nullptr)) loop.running.resume();
}

HEIST_BODY std::coroutine_handle<> transfer_loop::leave(std::coroutine_handle<> from,
                                                        std::coroutine_handle<> to) noexcept {
  transfer_loop* const loop = place_here();
  if (loop == nullptr || loop->running != from || loop->next) return to;
  loop->next = to;
  return std::noop_coroutine();
}

HEIST_BODY transfer_loop*& transfer_loop::place_here() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  // relaxed: its own
  return w != nullptr ? w->current.load(std::memory_order_relaxed)->innermost_loop : innermost_loop_outside();
}

HEIST_BODY resume_item::resume_item(std::coroutine_handle<> h, interrupt_state const* of) noexcept
    : queued_runnable{{&run_it, &resumption_what}, nullptr}, handle{h}, interrupt{of} {}

HEIST_BODY runnable* resume_item::run_it(runnable& task, fiber& self) {
  self.worker->report_pending_count();
  auto& item = static_cast<resume_item&>(task);
  task_view const view{task_kind::async, &task, "coroutine"};
  unsigned const its_wave = item.wave;
  self.scheduler.tell_begin(*self.worker, view);
  // Tasks that it begins are of its unit's wave; but the frame may end before, so no task may ask the item.
  outside_its_task const unknown{self};
  {
    interrupted_by const part_of{self, item.interrupt};
    transfer_loop::resume(self.innermost_loop, item.handle, its_wave);
  }
  self.scheduler.tell_end(*self.worker, view);
  core::ended(*self.worker, its_wave);
  return nullptr;
}

HEIST_COLD_BODY task_of_coroutine task_that_waits(interrupt_state& part) noexcept {
  interrupt_state const* const interrupt = interrupt_of_caller();
  // The coroutine may resume in another squad, or on another executor.
  bool const has_rule = interrupt != nullptr && interrupt->resumes != nullptr;
  if (has_rule) part.outer = interrupt;
  return {end_of_caller_task(), interrupt, has_rule ? &part : interrupt};
}

inline interrupt_state const* interrupt_of(task_of_coroutine const* of) noexcept {
  return of == nullptr ? nullptr : of->resumed;
}

HEIST_BODY void completion_awaiter::begin(core& on, std::coroutine_handle<> h, task_of_coroutine const* of) {
  on.check_open();
  scheduler = &on;
  task = &item_;
  item_.handle = h;
  item_.interrupt = interrupt_of(of);
}

HEIST_BODY void completion_awaiter::suspend(completion& c, core& on, std::coroutine_handle<> h,
                                            task_of_coroutine const* of) {
  begin(on, h, of);
  count(*this);
  if (!c.add_entry(*this)) on.make_runnable(item_);  // it is counted already
}

HEIST_BODY void completion_awaiter::suspend(completion& c, core& on, std::coroutine_handle<> h,
                                            task_of_coroutine const* of, async_base const* awaited,
                                            stop_target const& to) {
  if (of != nullptr && (to.origin.is(of->interrupt) || to.origin.is(of->resumed)))
    stop_ = make_unique<propagated_stop>(to, to.origin.state);
  if (of == nullptr || of->end == nullptr) return suspend(c, on, h, of);
  begin(on, h, of);
  if (!wait_as_part(c, awaited, {of->end, this, &count})) on.make_runnable(item_);  // as above
}

HEIST_BODY void completion_awaiter::count(completion_waiter& self) noexcept {
  auto& me = static_cast<completion_awaiter&>(self);
  me.item_.wave = me.scheduler->add_work();
}

HEIST_BODY void resume_as_task(resume_item& item, core& scheduler, std::coroutine_handle<> h,
                               task_of_coroutine const* of) {
  item.handle = h;
  item.interrupt = interrupt_of(of);
  scheduler.submit(item, [&item](unsigned wave) { item.wave = wave; });
}

/// Lets a coroutine that awaited what ends now resume on `scheduler`, if the calling thread is no worker of that. False:
/// it goes on here, because the thread is one, `scheduler` is null, or that ends.
HEIST_COLD_BODY bool resume_at_its_scheduler(void* room, std::coroutine_handle<> h, core* scheduler,
                                             task_of_coroutine const* of) noexcept {
  if (scheduler == nullptr || runs_on(*scheduler)) return false;
  try {
    resume_as_task(*::new (room) resume_item, *scheduler, h, of);
    return true;
  } catch (executor_error const&) {
    return false;
  }
}

HEIST_BODY std::coroutine_handle<> end_elsewhere(awaited_coroutine& self, void* room) noexcept {
  std::coroutine_handle<> next = self.continuation;
  void* scheduler = self.returns_to;
  if (!next) {
    auto& group = *static_cast<coroutine_group*>(self.returns_to);
    if (std::coroutine_handle<> const member = group.begin_next(self); member) return member;
    if (!group.left.arrive()) return {};  // the frames of both may be gone
    next = group.continuation;
    scheduler = group.scheduler;
    if (scheduler == self.scheduler) return next;
  }
  if (resume_at_its_scheduler(room, next, static_cast<core*>(scheduler), self.of)) return {};
  return next;
}

/// The loop in which `w` runs a resumption, if that is its whole unit of work. Null: other code is below the coroutine. That
/// code has exceptions, floating-point modes and locks of its own.
inline transfer_loop const* unit_on(worker const& w) noexcept {
  // relaxed: its own
  transfer_loop const* const loop = w.current.load(std::memory_order_relaxed)->innermost_loop;
  return loop != nullptr && loop->unit != transfer_loop::no_unit ? loop : nullptr;
}

HEIST_BODY std::coroutine_handle<> coroutine_group::begin_next(awaited_coroutine const& self) noexcept {
  if (self.next_member == nullptr || wave == transfer_loop::no_unit) return {};
  worker* const w = this_worker();  // kept: asked for its deque, at once
  // A task of its own would be seen by observers, and let requests and older tasks come first from time to time.
  if (w == nullptr || w->scheduler.on_task != nullptr || w->until_look == 1 || w->notification.is_set()) return {};
  transfer_loop const* const unit = unit_on(*w);
  // The member's unit ends now. So this unit must have its wave, or both: then those who wait for that one wait for this one.
  if (unit == nullptr || (unit->unit != wave && unit->unit != work_count<>::both)) return {};
  // relaxed: its own
  if (w->current.load(std::memory_order_relaxed)->interrupt != interrupt_of(self.of)) return {};
  resume_item* const item = self.next_member;
  if (!w->deque.take_back(item)) return {};
  --w->until_look;
  left.arrive_before_another();
  core::ended(*w, wave);
  return item->handle;
}

HEIST_BODY void coroutine_group::begin(std::coroutine_handle<> awaiting, core* home, task_of_coroutine const* of,
                                       member const* all, std::uint32_t count) {
  if (continuation) reject_second_await();
  worker* const w = this_worker();  // kept: nothing waits here
  core* const on = home == nullptr && w != nullptr ? &w->scheduler : home;
  if (on == nullptr) reject_await_outside();
  continuation = awaiting;
  scheduler = home;
  if (w != nullptr && &w->scheduler == on && on->generation() == os_env::process()) {
    if (transfer_loop const* const unit = unit_on(*w); unit != nullptr) wave = unit->unit;
  }
  left.expect(count);
  resume_item* next = nullptr;
  for (std::uint32_t i = count; i-- != 0;) {
    awaited_coroutine& promise = *all[i].promise;
    promise.scheduler = on;
    promise.of = of;
    promise.returns_to = this;
    promise.next_member = next;
    if (i == 0) break;
    next = ::new (all[i].room) resume_item{all[i].handle, interrupt_of(of)};
    if (wave != transfer_loop::no_unit) {
      next->wave = wave;
      on->work.add_work(w->number, wave);
      on->push(*w, *next);
      continue;
    }
    try {
      resume_as_task(*next, *on, all[i].handle, of);
    } catch (...) {
      promise.exception = exception_of_task();
      static_cast<void>(left.arrive());  // not the last: the first has not begun
    }
  }
}

HEIST_BODY bool runs_on(core const& scheduler) noexcept {
  worker* const w = this_worker();  // kept: asked, at once
  return w != nullptr && &w->scheduler == &scheduler;
}

HEIST_COLD_BODY void* allocate_frame_elsewhere(std::size_t bytes) {
  if (!block_pool::fits(bytes, 1)) return ::operator new(bytes);
  worker* const w = this_worker();  // kept: asked for its pool, at once
  if (w != nullptr) return w->blocks.allocate(bytes);
  void* const released = outside_blocks::take(bytes);
  return released != nullptr ? released : block_pool::new_block(bytes);
}

HEIST_COLD_BODY void reject_second_await() {
  throw executor_error{
      "a coroutine is awaited that has been awaited before, was moved from, or is none: it runs once. Fix it by "
      "calling the function again, or by a heist::shared_future of its result."};
}

HEIST_COLD_BODY void reject_await_outside() {
  throw executor_error{
      "a coroutine that is on no executor awaits what belongs to none either, so no thread would go on with it; fix it "
      "by "
      "co_await heist::resume_on(ex) before."};
}

HEIST_COLD_BODY void reject_event_without_value(std::string const& name) {
  throw graph_error{format_text(
      "event {} is awaited and has no value: its run was stopped, has failed or went around it, or there was none. Fix "
      "it by co_await of the run before, which throws what it failed with.",
      {name})};
}

}  // namespace heist::detail
