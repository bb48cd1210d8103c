// Bodies of core.hpp.
#pragma once

#include "heist/core/scheduler/core.hpp"

#include <array>
#include <span>
#include <utility>  // move, exchange

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/memory/outside_blocks.hpp"
#include "heist/core/memory/stack.hpp"
#include "heist/core/scheduler/open_loop.hpp"

namespace heist::detail {

/// The executors of the program. If there are more than `places`, every executor counts as alive.
struct live_cores {
  static constexpr std::size_t places = 64;
  os_env::atomic<core const*> at[places]{};
  os_env::atomic<std::size_t> used{0}, others{0};
};
HEIST_ONE_COPY inline constinit live_cores all_live_cores;
/// The same executors, for texts: an executor waits at its end for those that are made.
HEIST_ONE_COPY inline constinit outside_waits all_enrolled;

/// relaxed everywhere: a caller that may use an executor knows that by other means. A caller that asks about an executor
/// that is gone comes after its end.
HEIST_COLD_BODY void core::enroll() noexcept {
  place_.self = this;
  all_enrolled.add(place_);
  for (std::size_t i = 0; i != live_cores::places; ++i) {
    core const* none = nullptr;
    if (!all_live_cores.at[i].compare_exchange_strong(none, this, std::memory_order_relaxed))
      continue;                                                             // relaxed: above
    std::size_t now = all_live_cores.used.load(std::memory_order_relaxed);  // relaxed: above
    while (now <= i &&
           !all_live_cores.used.compare_exchange_weak(now, i + 1, std::memory_order_relaxed)) {  // relaxed: above
    }
    enrolled_ = true;
    return;
  }
  all_live_cores.others.fetch_add(1, std::memory_order_relaxed);  // relaxed: above
  enrolled_ = true;
}

HEIST_COLD_BODY void core::strike_off() noexcept {
  if (!std::exchange(enrolled_, false)) return;
  if (os_env::process() == generation_) all_enrolled.remove(place_);
  for (auto& place : all_live_cores.at) {
    core const* me = this;
    if (place.compare_exchange_strong(me, nullptr, std::memory_order_relaxed)) return;  // relaxed: above
  }
  all_live_cores.others.fetch_sub(1, std::memory_order_relaxed);  // relaxed: above
}

HEIST_COLD_BODY bool core::is_alive(core const* of) noexcept {
  if (all_live_cores.others.load(std::memory_order_relaxed) != 0) return true;   // relaxed: above
  std::size_t const used = all_live_cores.used.load(std::memory_order_relaxed);  // relaxed: above
  for (std::size_t i = 0; i != used; ++i) {
    if (all_live_cores.at[i].load(std::memory_order_relaxed) == of) return true;  // relaxed: above
  }
  return false;
}

HEIST_BODY core::~core() {
  strike_off();
  if (joined_limit_ != nullptr) limit->leave(joined_limit_);
  if (os_env::process() == generation_) {
    for (auto const leave : leaves_timers) {
      if (leave != nullptr) leave();
    }
  }
  outside_blocks::clear();
  large_memory::clear();
  while (fibers_ != nullptr) {  // one after the other, not one inside the other
    unique_ptr<fiber> next = std::move(fibers_->next_of_all);
    fibers_ = std::move(next);
  }
  while (os_threads_ != nullptr) {  // as above
    unique_ptr<os_thread> next = std::move(os_threads_->next_of_all);
    os_threads_ = std::move(next);
  }
}

HEIST_BODY void core::make_runnable(queued_runnable& r) {
  if (worker* const w = own_worker(); w != nullptr) {
    push(*w, r);
  } else {
    unsigned const wave = work.current_wave();
    work.enter(0, wave);
    receive_in(r, wave);
  }
}

HEIST_BODY void core::make_runnable(queued_runnable& r, priority how, worker* to) {
  unsigned const wave = work.current_wave();
  work.enter(0, wave);  // the executor stays until it is told, by whatever thread
  if (to != nullptr) {
    send_to(*to, r);
  } else {
    announce(*outer_gate_, requests.push(r, how));
  }
  work.leave(wave);
}

HEIST_BODY runnable* core::take_submitted(worker& w) {
  if (!w.own_fibers.maybe_empty()) [[unlikely]] {
    if (runnable* const r = take_own(w); r != nullptr) return r;
  }
  if (has_mail) {
    if (runnable* const r = take_mail(w); r != nullptr) return r;
  }
  return take_request(w);
}

HEIST_BODY runnable* core::join_loop(worker& w) noexcept {
  if (limit != nullptr) [[unlikely]]
    limit->search(w);
  // Those of its neighbours first, so that workers which are woken together do not all enter the same.
  for (std::size_t i = 0; i != worker_count; ++i) {
    if (runnable* const l = workers[(w.number + i) % worker_count]->loops.enter(); l != nullptr) return l;
  }
  return nullptr;
}

HEIST_BODY void core::tell_open_loop(bool inside) noexcept {
  if (inside) {
    outer_gate_->pushed();
  } else {
    announce(*outer_gate_, true, true);
  }
}

HEIST_BODY open_loops::~open_loops() {
  clear([](open_loop& l) noexcept { l.free(l); });
}

HEIST_BODY runnable* open_loops::enter_one() noexcept {
  return find([](open_loop& l) noexcept { return l.left.may_enter() && l.left.enter(); });
}

HEIST_BODY bool open_loops::may_enter_one() const noexcept {
  return find([](open_loop& l) noexcept { return l.left.may_enter(); }) != nullptr;
}

HEIST_BODY void core::make_runnable_on(worker& w, queued_runnable& r) {
  if (own_worker() != nullptr) return send_to(w, r);
  make_runnable(r, priority::normal, &w);  // it may be the last that the executor waits for
}

HEIST_BODY void core::send_to(worker& w, queued_runnable& r) noexcept {
  w.own_fibers.push(r);
  os_env::fence(std::memory_order_seq_cst);  // S1, A1: a worker that falls asleep sees it, or is seen
  w.notification.raise();
  w.gate->wake(w.number);
  // relaxed: a helper that comes later looks before it sleeps
  if (has_helper_.load(std::memory_order_relaxed)) w.gate->wake(worker_count);
}

HEIST_BODY void core::notify_busy() noexcept {
  for (auto const& w : workers) notify_busy(*w);
}

HEIST_BODY void core::notify_busy(worker& w) noexcept {
  w.notification.raise_and_ask([&w] { ask_to_look(w); });
}

HEIST_BODY void core::ask_to_look(worker& w) noexcept {
  w.current.load(std::memory_order_acquire)->tasks.ask();  // acquire: see worker::current
  w.continuations.ask();
}

HEIST_BODY void core::give(worker& w, queued_runnable& r) {
  w.mailbox.push(r);
  w.gate->wake_for(w.number);  // S1
}

HEIST_BODY runnable* core::take_any_mail() {
  for (auto const& w : workers) {
    if (runnable* const r = take_mail(*w); r != nullptr) return r;
  }
  return nullptr;
}

HEIST_BODY void core::check_open() const {
  check_process(generation_);
  if (work.closed() && own_worker() == nullptr) [[unlikely]]
    reject_while_stopping();
}

HEIST_BODY bool core::work_for(worker const& thief) const noexcept {
  if (something_for(thief)) return true;
  for (auto const& w : workers) {
    if (w->loops.may_enter() || !w->deque.maybe_empty() || stealable(*w, w->group == thief.group)) return true;
    if (has_mail && !w->mailbox.maybe_empty()) return true;
  }
  return extension != nullptr && extension->sleep != nullptr && extension->sleep->may_take(thief);
}

HEIST_BODY bool core::stealable(worker& w, bool with_frames) noexcept {
  // acquire: see worker::current
  auto& tasks = w.current.load(std::memory_order_acquire)->tasks;
  if (tasks.maybe_stealable() || (with_frames && w.continuations.maybe_stealable())) return true;
  tasks.ask();
  if (with_frames) w.continuations.ask();
  return tasks.maybe_openable();
}

HEIST_COLD_BODY void core::ask_all(worker const& thief) const noexcept {
  for (auto const& w : workers) {
    if (w.get() != &thief) ask_to_look(*w);
  }
}

HEIST_COLD_BODY worker* core::open_task_stacks(worker& thief) noexcept {
  constexpr std::size_t at_once = 8;
  std::array<worker*, at_once> owners;
  std::array<fiber*, at_once> stacks;
  std::size_t n = 0;
  std::size_t const first = thief.random.below(static_cast<std::uint32_t>(worker_count));
  for (std::size_t i = 0; i != worker_count && n != at_once; ++i) {
    worker& w = *workers[(first + i) % worker_count];
    if (&w == &thief) continue;
    owners[n] = &w;
    stacks[n] = w.current.load(std::memory_order_acquire);  // acquire: see worker::current
    if (stacks[n]->tasks.maybe_openable()) ++n;
    // relaxed: a hint
    if (order != fork_order::parent_first && w.continuations.is_asked() &&
        w.state.load(std::memory_order_relaxed) == worker::running)
      long_tasks_.store(true, std::memory_order_relaxed);  // relaxed: a hint
  }
  fiber* const with_task = n == 0 ? nullptr : open_task_stacks(std::span{stacks.data(), n});
  for (std::size_t i = 0; i != n; ++i) {
    if (stacks[i] == with_task) return owners[i];
  }
  return nullptr;
}

HEIST_COLD_BODY fiber* core::open_task_stacks(std::span<fiber* const> stacks) noexcept {
  if (any_opener_.exchange(true, std::memory_order_acquire)) return nullptr;  // acquire: as open_end() left them
  std::uint64_t opening = 0;
  for (std::size_t i = 0; i != stacks.size(); ++i) {
    if (stacks[i]->tasks.open_begin()) opening |= std::uint64_t{1} << i;
  }
  if (opening != 0) os_env::heavy_fence();  // E4, E5 of the task stack
  fiber* with_task = nullptr;
  for (std::size_t i = 0; i != stacks.size(); ++i) {
    fiber& f = *stacks[i];
    if ((opening >> i & 1) != 0 && f.tasks.open_end([&f](fork_slot* end) { f.label(end); })) with_task = &f;
  }
  any_opener_.store(false, std::memory_order_release);  // release: for the next one
  return with_task;
}

HEIST_BODY bool core::needs_continuations(worker& w, std::size_t n) noexcept {
  if (long_tasks_.load(std::memory_order_relaxed)) {  // relaxed: a hint
    // The forks down to one leaf come one right after the other; so many do not.
    constexpr std::uint32_t most_forks_to_a_leaf = 64;
    constexpr std::uint64_t short_ticks = 2048;
    std::uint64_t const now = os_env::ticks();
    w.short_forks = now - w.forked_at < short_ticks ? w.short_forks + 1 : 0;
    w.forked_at = now;
    if (w.short_forks < most_forks_to_a_leaf) return true;
    long_tasks_.store(false, std::memory_order_relaxed);  // relaxed: a hint
    w.short_forks = 0;
  }
  // One more: a frame that is stolen may have nothing left to do but wait.
  std::size_t idle = 0;
  for (auto const& u : workers) {
    char const* const state = u->state.load(std::memory_order_relaxed);  // relaxed: a hint
    if (u->group == w.group && state != worker::running && state != worker::vacant && ++idle >= n) return true;
  }
  return false;
}

HEIST_BODY void* core::allocate_block(std::size_t bytes) {
  return allocate_block_on(this_worker(), bytes);
}

HEIST_BODY void* core::allocate_block_on(worker* w, std::size_t bytes) {
  if (w != nullptr && &w->scheduler == this) {
    void* const block = w->blocks.allocate(bytes);
    w->blocks.prefetch_next(bytes);
    return block;
  }
  if (void* const released = outside_blocks::take(bytes); released != nullptr) return released;
  // Threads outside share a few pools. They never wait for each other here, nor allocate under the lock: the holder
  // may be a thread of lower priority on the same core.
  outside_pool& pool = pool_of_this_thread();
  if (!pool.lock.try_lock()) return block_pool::new_block(bytes);
  void* const kept = pool.blocks.take(bytes);
  pool.lock.unlock();
  return kept != nullptr ? kept : block_pool::new_block(bytes);
}

HEIST_BODY queued_runnable* core::take_mail(worker& w) noexcept {
  bool more = false;
  queued_runnable* const r = w.mailbox.take(more);
  if (more) w.gate->wake_for(w.number);  // S1, as in give()
  return r;
}

HEIST_BODY worker* core::own_worker() const noexcept {
  worker* const w = this_worker();
  return w != nullptr && &w->scheduler == this ? w : nullptr;
}

HEIST_BODY void core::receive_in(queued_runnable& r, unsigned wave) {
  announce(*outer_gate_, requests.push(r));
  work.leave(wave);
}

HEIST_BODY void core::announce(idle_gate<>& at, bool first, bool goes_on) noexcept {
  if (!at.submitted(goes_on) && first) notify_busy();
}

HEIST_BODY unsigned core::wave_on(worker& w) const noexcept {
  // relaxed: its own
  runnable const* const task = w.current.load(std::memory_order_relaxed)->running.load(std::memory_order_relaxed);
  if (task == nullptr || task->what == nullptr || task->what->operations->wave == nullptr) return work_count<>::both;
  return task->what->operations->wave(*task);
}

HEIST_BODY std::uint64_t core::next_serial() noexcept {
  std::uint64_t const copy = reinterpret_cast<std::uintptr_t>(&last_serial_) / alignof(std::uint64_t);
  return (copy << 40) + last_serial_.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number
}

HEIST_COLD_BODY std::size_t core::sleeping_workers() const noexcept {
  std::size_t n = 0;
  for (auto const& w : workers) {
    char const* const state = w->state.load(std::memory_order_relaxed);  // relaxed: a snapshot
    n += state == worker::asleep || state == worker::vacant;
  }
  return n;
}

HEIST_BODY fiber const* core::all_fibers() const noexcept {
  spin_guard guard{lock_};
  return fibers_.get();
}

HEIST_BODY core::outside_pool& core::pool_of_this_thread() noexcept {
  char const here = 0;
  std::uint64_t const stack = reinterpret_cast<std::uintptr_t>(&here) >> 16;  // the same at most depths
  return outside_pools_[(stack * 0x9E3779B97F4A7C15u) >> (64 - outside_pool_bits)];
}

}  // namespace heist::detail
