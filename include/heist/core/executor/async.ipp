// Bodies of async.hpp.
#pragma once

#include "heist/core/executor/async.hpp"

namespace heist::detail {

HEIST_BODY void task_waiter::wake_up(completion_waiter& self) noexcept {
  auto& me = static_cast<task_waiter&>(self);
  me.scheduler->make_runnable(*me.task);
}

HEIST_BODY dependency::dependency(async_base& waiting, async_base* awaited, bool needs_value) noexcept
    : completion_waiter{needs_value ? &wake_up : &wake_for_order}, of{&waiting}, on{awaited} {}

HEIST_BODY void dependency::wake_up(completion_waiter& self) noexcept {
  auto& link = static_cast<dependency&>(self);
  link.settle();
  if (async_base& waiting = *link.of; waiting.awaited.arrive()) make_ready(waiting);
}

/// A function apart from wake_up: its address marks the kind of the dependency.
HEIST_BODY void dependency::wake_for_order(completion_waiter& self) noexcept {
  auto& link = static_cast<dependency&>(self);
  if (link.on->exception) {
    link.on->retain();
  } else {
    link.on = nullptr;
  }
  if (async_base& waiting = *link.of; waiting.awaited.arrive()) make_ready(waiting);
}

HEIST_BODY void make_ready(async_base& task) noexcept {
  if (task.routed) {
    task.operations().route(task);
  } else {
    task.scheduler->make_runnable(task);
  }
}

HEIST_BODY runnable* complete_async(async_base& task, fiber& self) noexcept {
  queued_runnable* next = nullptr;
  task.finished.complete([&](completion_waiter& w) noexcept {
    queued_runnable* ready = nullptr;
    if (task_waiter::is(w) && static_cast<task_waiter&>(w).scheduler == &self.scheduler) {
      ready = static_cast<task_waiter&>(w).task;
    } else if (!dependency::is(w)) {
      return w.wake(w);
    } else {
      auto& link = static_cast<dependency&>(w);
      async_base& waiting = *link.of;
      link.settle();
      if (!waiting.awaited.arrive()) return;
      if (waiting.routed || waiting.scheduler != &self.scheduler) return make_ready(waiting);
      ready = &waiting;
    }
    // The youngest comes first here: the oldest is run next, and the younger ones come out of the deque in their order.
    if (next != nullptr) self.scheduler.push(*self.worker, *next);
    next = ready;
  });
  return next;
}

HEIST_COLD_BODY task_view view_of_posted(runnable const& self) noexcept {
  return {task_kind::async, &self, nullptr};
}

HEIST_COLD_BODY task_view view_of_async(runnable const& self) noexcept {
  auto const& task = static_cast<async_base const&>(self);
  auto const name = task.operations().name;
  return {task_kind::async, &self, name == nullptr ? nullptr : name(task)};
}

HEIST_COLD_BODY bool text_of_posted(runnable const& self, task_view& view) noexcept {
  view = view_of_posted(self);
  return true;
}

HEIST_COLD_BODY bool text_of_async(runnable const& self, task_view& view) noexcept {
  view = view_of_async(self);
  return false;
}

HEIST_COLD_BODY unsigned wave_of_async(runnable const& self) noexcept {
  return static_cast<async_base const&>(self).wave;
}

HEIST_COLD_BODY completion const* end_of_async(runnable const& self) noexcept {
  return &static_cast<async_base const&>(self).finished;
}

HEIST_COLD_BODY void submit_posted(core& scheduler, queued_runnable& task) {
  scheduler.submit(task, [&task](unsigned wave) { task.what += wave; });
}

HEIST_BODY void submit_async(core& scheduler, async_base& task) {
  if (task.routed) [[unlikely]] {
    scheduler.check_open();
    task.wave = static_cast<std::uint8_t>(scheduler.add_work());
    task.operations().route(task);
    return;
  }
  scheduler.submit(task, [&task](unsigned wave) { task.wave = static_cast<std::uint8_t>(wave); });
}

/// Stands for a task in front of other tasks.
struct second_entry : queued_runnable {
  explicit second_entry(async_base& of) noexcept : queued_runnable{{&begin, nullptr}, nullptr}, task{of} {}
  static runnable* begin(runnable& self, fiber& on) {
    async_base& task = static_cast<second_entry&>(self).task;
    std::destroy_at(static_cast<second_entry*>(&self));
    free_shared_block(&self, sizeof(second_entry));
    on.running.store(&task, std::memory_order_relaxed);  // relaxed: as in the worker's loop
    return task.run(task, on);
  }
  async_base& task;
};

HEIST_COLD_BODY void raise_priority(async_base& task) {
  if (!task.operations().begins_once || task.routed || task.generation != os_env::process()) return;
  if (task.finished.is_ready()) return;  // it may have outlived its executor
  core& scheduler = *task.scheduler;
  void* const block = allocate_shared_block(scheduler, sizeof(second_entry));
  if (!task.entries.raise()) return free_shared_block(block, sizeof(second_entry));
  task.retain();
  task.second_wave = static_cast<std::uint8_t>(scheduler.add_work());
  scheduler.make_runnable(*::new (block) second_entry{task}, priority::high, nullptr);
}

HEIST_COLD_BODY void request_stop(async_base& task) {
  if (auto const stop = task.operations().stop; stop != nullptr && stop(task)) return;
  throw executor_error{
      "request_stop() of a future whose task cannot be stopped, because it has neither a stop token nor a deadline; "
      "fix "
      "it by ex.submit(heist::with{.stoppable = true}, f)."};
}

HEIST_COLD_BODY runnable* end_second_entry(async_base& task, fiber& self) noexcept {
  unsigned const wave = task.second_wave;
  task.release();
  core::ended(*self.worker, wave);
  return nullptr;
}

HEIST_COLD_BODY std::exception_ptr stopped_before_start() {
  return std::make_exception_ptr(stopped_error{"the task was stopped before it started"});
}

HEIST_COLD_BODY interrupt_state const* interrupt_of_caller() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  return w == nullptr ? nullptr : interrupt_on(*w);
}

HEIST_COLD_BODY void* allocate_inheriting(core& scheduler, std::size_t bytes) {
  return allocate_shared_block(scheduler, bytes);
}

HEIST_COLD_BODY void inherited_stop::add(async_base& task, interrupt_state const* origin, interrupt_state* own,
                                         dependency* first) noexcept {
  inherited_stop& me = *::new (static_cast<void*>(place(task))) inherited_stop{
      task.run, task.what, task.operations(), {nullptr}, task, stop_origin{origin}, own,
      first,    {},        nullptr,           {false},   {}};
  me.operations.destroy = &destroy;
  me.what.operations = &me.operations;
  task.what = &me.what;
  task.run = &run;
  task.marks.store(async_base::inherits, std::memory_order_relaxed);  // relaxed: the submission publishes it
}

HEIST_COLD_BODY inherited_stop* inherited_stop::of(async_base& task) noexcept {
  // relaxed: written before the task was submitted
  return (task.marks.load(std::memory_order_relaxed) & async_base::inherits) != 0 ? place(task) : nullptr;
}

HEIST_COLD_BODY void inherited_stop::stop(async_base& task) noexcept {
  inherited_stop* left = nullptr;
  // relaxed: a mark; the thread that sets it has a share in the task
  auto const claim = [](inherited_stop& its) { return !its.is_stopped.exchange(true, std::memory_order_relaxed); };
  task.retain();
  if (claim(*place(task))) left = place(task);
  while (left != nullptr) {  // a loop, since a chain may be too long for recursion
    inherited_stop& now = *std::exchange(left, left->next);
    (now.own != nullptr ? *now.own : now.state).set(stop_state::inherited);  // runs callbacks of users
    {
      spin_guard guard{now.lock};
      for (std::uint32_t i = 0; now.first != nullptr && i != now.task.links; ++i) {
        async_base* const before = now.first[i].on;
        inherited_stop* const its = before == nullptr ? nullptr : of(*before);
        if (its == nullptr || its->origin != now.origin || !claim(*its)) continue;
        before->retain();
        its->next = std::exchange(left, its);
      }
    }
    if (&now.task != &task) now.task.release();
  }
  task.release();
}

HEIST_COLD_BODY void inherited_stop::forget_links() noexcept {
  spin_guard guard{lock};
  first = nullptr;
}

HEIST_COLD_BODY runnable* inherited_stop::run(runnable& r, fiber& self) {
  auto& task = static_cast<async_base&>(r);
  inherited_stop& me = *place(task);
  task.retain();  // the fiber refers to the state
  {
    interrupted_by const part_of{self, &me.state};
    // The destructor of the task's callable may wait for `next`.
    if (runnable* const next = me.work(r, self); next != nullptr) self.scheduler.push(*self.worker, *next);
  }
  task.release();
  return nullptr;
}

HEIST_COLD_BODY void inherited_stop::destroy(async_base& task) noexcept {
  inherited_stop& me = *place(task);
  described const* const before = me.before;
  std::destroy_at(&me);
  task.what = before;
  task.operations().destroy(task);
}

HEIST_COLD_BODY runnable const* caller_task() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  if (w == nullptr) return nullptr;
  fiber const& self = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
  return self.running.load(std::memory_order_relaxed);              // relaxed: written by this thread
}

HEIST_COLD_BODY void reject_own_future(runnable const& task) {
  if (caller_task() != &task) return;
  throw executor_error{
      "a task waits for its own future, which would never be ready; fix it by returning the result, and by waiting "
      "for it outside of the task."};
}

}  // namespace heist::detail
