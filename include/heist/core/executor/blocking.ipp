// Bodies of blocking.hpp, and of core's and fiber's members for threads that change.
#pragma once

#include <pthread.h>  // pthread_setcancelstate, pthread_setname_np

#include <cstdio>  // snprintf
#include <thread>
#include <utility>  // exchange, move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/blocking.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/topology/bind.hpp"

namespace heist::detail {

/// Names the calling thread for top, perf and debuggers. Workers of the program's first executor are heist-0 and so on,
/// of the second one heist2-0. A thread that blocking calls need is heist-extra.
HEIST_COLD_BODY void core::name_thread(worker const* first) const noexcept {
  char name[16];  // the system takes no more
  std::uint64_t const executor = serial_ & ((std::uint64_t{1} << 40) - 1);
  // A precision of 0 prints no 0.
  auto const visible = static_cast<unsigned>(executor == 1 ? 0 : executor % 10'000);
  if (first != nullptr) {
    std::snprintf(name, sizeof name, "heist%.0u-%u", visible, static_cast<unsigned>(first->number % 100'000));
  } else {
    std::snprintf(name, sizeof name, "heist%.0u-extra", visible);
  }
  ::pthread_setname_np(::pthread_self(), name);
}

/// Carries one worker after the other until the executor stops.
HEIST_COLD_BODY void core::carry(os_thread& me, worker* first) noexcept {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);  // a worker that vanished would take its tasks along
  name_thread(first);
  fiber_context created;
  worker* w = first != nullptr ? first : me.wait();  // kept: its thread changes only
  if (w == nullptr) return;
  std::size_t const number = w->number;
  if (on_start_) on_start_(number);
  if (first != nullptr) on_start_calls_.fetch_add(1, std::memory_order_release);  // release: drain_and_stop()
  do {
    set_this_worker(w);
    w->thread.store(os_env::thread_number(), std::memory_order_relaxed);  // relaxed: for people
    if (pinned_) topology::bind_this_thread(where.machine(), where.squads().pu_of_worker[w->number]);
    w->signals.enter(*w);
    w->boot = &created;
    if (limit != nullptr) limit->begin(*w);
    // relaxed: its own
    fiber_context::switch_to(created, w->current.load(std::memory_order_relaxed)->own_fiber_context(),
                             {nullptr, nullptr});
    // Back when the executor stops, or when a blocking call that began on this thread has ended, which has left the
    // worker to another one.
    if (this_worker() != nullptr) {
      if (limit != nullptr) limit->end(*w);
      w->signals.leave();
      set_this_worker(nullptr);
    }
    w = rest(me) ? me.wait() : nullptr;
  } while (w != nullptr);
  if (on_stop_) on_stop_(number);
}

/// False if the executor stops.
HEIST_COLD_BODY bool core::rest(os_thread& c) noexcept {
  spin_guard guard{lock_};
  if (stopping()) return false;
  c.next = std::exchange(idle_, &c);
  return true;
}

HEIST_COLD_BODY os_thread& core::start_os_thread(worker* first) {
  auto made = make_unique<os_thread>();
  os_thread& c = *made;
  {
    spin_guard guard{lock_};
    made->next_of_all = std::move(os_threads_);
    os_threads_ = std::move(made);
  }
  std::thread thread{[this, &c, first]() noexcept { carry(c, first); }};
  spin_guard guard{lock_};
  threads_.push_back(std::move(thread));  // there is room
  return c;
}

/// A thread that carries nothing, for the caller to call; null where there is none.
HEIST_COLD_BODY os_thread* core::find_os_thread() noexcept {
  {
    spin_guard guard{lock_};
    if (idle_ != nullptr) return std::exchange(idle_, idle_->next);
    if (thread_count_ >= max_threads_) return nullptr;
    ++thread_count_;
  }
  try {
    return &start_os_thread(nullptr);
  } catch (...) {
    spin_guard guard{lock_};
    --thread_count_;
    return nullptr;
  }
}

HEIST_COLD_BODY void core::release_os_threads() noexcept {
  os_thread* c = nullptr;
  {
    spin_guard guard{lock_};
    c = std::exchange(idle_, nullptr);
  }
  while (c != nullptr) std::exchange(c, c->next)->call(nullptr);
}

/// May the worker under this fiber be carried by another thread while the fiber's frames stay on this one?
HEIST_COLD_BODY bool fiber::may_leave_worker() const noexcept {
  return scheduler.joins == join_strategy::park &&
         (scheduler.extension == nullptr || scheduler.extension->may_leave_worker(*this)) && no_migrate == 0 &&
         waiting_joins == 0 && resumes == nullptr && worker->pinned_fibers == 0 && !worker->has_helper;
}

HEIST_COLD_BODY blocking_call::blocking_call() noexcept : waits_{this_fiber()} {}

HEIST_COLD_BODY bool blocking_call::begin() noexcept {
  worker* const w = this_worker();  // kept: no code of a user's runs before the thread is no worker any more
  if (w == nullptr) return false;
  fiber& self = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
  core& scheduler = w->scheduler;
  if (!self.may_leave_worker()) return false;
  os_thread* const c = scheduler.find_os_thread();
  if (c == nullptr) return false;
  fiber* const next = self.try_suspend();
  if (next == nullptr) {
    scheduler.rest(*c);
    return false;
  }
  self_ = &self;
  thread_ = w->boot;
  if (scheduler.on_fiber != nullptr) scheduler.on_fiber(scheduler, *w, self, fiber_event::parks);
  self.note_wait({"the end of a call that blocks its thread"});
  next->worker = w;
  w->current.store(next, std::memory_order_release);  // release: see worker::current
  if (next->tasks.maybe_stealable()) scheduler.published(*w);
  w->signals.leave();
  set_this_worker(nullptr);
  c->call(w);
  return true;
}

HEIST_COLD_BODY void blocking_call::end() noexcept {
  fiber& self = *self_;
  fiber_context::switch_to(self.own_fiber_context(), *thread_, {&after_leaving, &self});
  self.note.end();
  core& scheduler = self.scheduler;
  if (scheduler.on_fiber != nullptr) scheduler.on_fiber(scheduler, *self.worker, self, fiber_event::resumes);
}

/// On the stack that the thread was born with.
HEIST_COLD_BODY void blocking_call::after_leaving(void* left) noexcept {
  fiber& f = *static_cast<fiber*>(left);
  f.scheduler.make_ready(f);
}

}  // namespace heist::detail
