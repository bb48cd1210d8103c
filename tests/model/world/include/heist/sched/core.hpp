// Stands for sched/core.hpp and core_start.hpp: queues, counters, start and stop, line by line as there where graphs
// come by; threads are virtual ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "heist/base/env.hpp"
#include "heist/policy/order.hpp"
#include "heist/policy/tier.hpp"
#include "heist/sched/current.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/idle_gate.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sched/work_count.hpp"
#include "heist/sched/worker.hpp"
#include "heist/sync/master_queue.hpp"

namespace heist::detail {

/// A virtual thread that does nothing before it is started, as threads of the system have to be.
class virtual_thread {
 public:
  /// The body of the virtual thread.
  void main() {
    set_this_worker(nullptr);
    while (word_.load(std::memory_order_acquire) == waiting) word_.wait(waiting);  // acquire: what start() wrote
    run_(data_, index_);
    word_.store(ended, std::memory_order_release);  // release: join() sees what the thread did
    word_.wake_all();
  }
  void start(void (*run)(void*, std::size_t), void* data, std::size_t index) noexcept {
    run_ = run;
    data_ = data;
    index_ = index;
    word_.store(started, std::memory_order_release);  // release: as starting a thread
    word_.wake_all();
  }
  void join() noexcept {
    while (word_.load(std::memory_order_acquire) != ended) word_.wait(started);  // acquire: as joining a thread
  }

 private:
  static constexpr std::uint32_t waiting = 0, started = 1, ended = 2;
  os_env::plain<void (*)(void*, std::size_t)> run_{nullptr};
  os_env::plain<void*> data_{nullptr};
  os_env::plain<std::size_t> index_{0};
  os_env::park_word word_;
};

class core {
 public:
  using loop_function = void (*)(fiber& on);

  core(virtual_thread* threads, std::size_t count, idle_rules idle, loop_function loop)
      : work{count}, loop_{loop}, gate_{std::make_unique<idle_gate<>>(count, idle)}, threads_{threads} {
    for (std::uint32_t i = 0; i < count; ++i) {
      workers.push_back(std::make_unique<worker>(*this, i, count == 1, order));
      workers.back()->gate = gate_.get();
    }
    door_ = gate_.get();
  }
  core(core const&) = delete;
  core& operator=(core const&) = delete;

  void start() {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      threads_[i].start([](void* self, std::size_t w) { static_cast<core*>(self)->thread_main(w); }, this, i);
    }
  }
  void drain_and_stop() noexcept {
    wait_idle();
    work.wait_for_visitors();
    stop_and_join();
  }

  worker& push(worker& w, runnable& r) {
    model::check(w.deque.push(&r), "no memory");
    if (!w.alone) w.gate->pushed();
    return w;
  }
  void submit(queued_runnable& r) {
    if (worker* const w = own_worker(); w != nullptr) {
      work.began(w->number);
      push(*w, r);
    } else {
      enter_from_outside(r, 1);
    }
  }
  void make_runnable(queued_runnable& r) {
    if (worker* const w = own_worker(); w != nullptr) {
      push(*w, r);
    } else {
      enter_from_outside(r, 0);
    }
  }
  void began() noexcept {
    if (worker* const w = own_worker(); w != nullptr) {
      work.began(w->number);
    } else {
      work.began_outside();
    }
  }
  static void ended(worker& w) noexcept { ++w.ended; }
  void settle(worker& w) {
    w.report_tally();
    work.ended(w.number, w.ended);
  }
  void wait_idle() { work.wait_idle(); }

  runnable* take_submitted(worker& w) {
    queued_runnable* r = master.take_all();
    if (r == nullptr) return nullptr;
    while (r->next != nullptr) {
      queued_runnable* const older = r->next;  // read before the push: a thief may run and free it
      push(w, *r);
      r = older;
    }
    return r;
  }

  void check_process() const noexcept {}
  static void check_process(unsigned) noexcept {}
  unsigned generation() const noexcept { return 0; }
  bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }

  bool work_for(worker const& thief) const noexcept {
    if (!master.maybe_empty()) return true;
    for (auto const& w : workers) {
      if (!w->deque.maybe_empty()) return true;
    }
    return thief.in != nullptr;
  }

  std::vector<std::unique_ptr<worker>> workers;
  squad_set<pooled_runnable, queued_runnable> squads;
  work_count<> work;
  master_queue<queued_runnable> master;
  fork_order const order = fork_order::parent_first;

  // What the worker loop does for other policies, and for forked tasks.
  void give_up_fibers(worker&) noexcept {}
  void give_up_fresh(worker&) noexcept {}
  runnable* take_donated() { return nullptr; }
  pooled_runnable* take_inter(worker&) noexcept { return nullptr; }
  static runnable* steal_continuation(worker&, steal_status&) noexcept { return nullptr; }

 private:
  worker* own_worker() const noexcept {
    worker* const w = this_worker();
    return w != nullptr && &w->home == this ? w : nullptr;
  }
  void enter_from_outside(queued_runnable& r, std::uint64_t units) {
    work.enter(units);
    master.push(r);
    door_->submitted();
    work.leave();
  }
  void thread_main(std::size_t i) {
    worker& w = *workers[i];
    set_this_worker(&w);
    loop_(w.only);
    set_this_worker(nullptr);
  }
  void stop_and_join() noexcept {
    stop_.store(true, std::memory_order_release);  // release: pairs with stopping()
    door_->wake_all();
    for (std::size_t i = 0; i < workers.size(); ++i) threads_[i].join();
  }

  loop_function const loop_;
  std::unique_ptr<idle_gate<>> gate_;
  idle_gate<>* door_ = nullptr;
  virtual_thread* threads_;
  os_env::atomic<bool> stop_{false};
};

}  // namespace heist::detail
