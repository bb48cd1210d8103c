// Stands for core/scheduler/core.hpp and core_start.ipp: queues, counters, start and stop, line by line as there where
// graphs come by; threads are virtual ones.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>  // move
#include <vector>

#include "heist/core/base/env.hpp"
#include "heist/core/base/priority.hpp"
#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/policy/thread_permits.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/scheduler/worker.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/injection_queue.hpp"
#include "heist/core/sync/unobserved.hpp"
#include "heist/core/sync/work_count.hpp"

namespace heist::detail {

class graph_listener;
struct outside_note;

/// A virtual thread that does nothing before it is started, as threads of the system have to be.
class virtual_thread {
 public:
  /// The body of the virtual thread.
  void main() {
    set_this_worker(nullptr);
    while (word_.load(std::memory_order_acquire) == waiting) word_.wait(waiting);  // acquire: the writes of start()
    run_(data_, index_);
    word_.store(ended, std::memory_order_release);  // release: join() sees the thread's writes
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
  graph_listener* on_graph = nullptr;
  using loop_function = void (*)(fiber& self);

  core(virtual_thread* threads, std::size_t count, idle_config idle, loop_function loop)
      : worker_count{count}, work{count}, loop_{loop}, threads_{threads} {
    gates_.push_back(std::make_unique<idle_gate<>>(count, idle));
    for (std::uint32_t i = 0; i < count; ++i) {
      workers.push_back(std::make_unique<worker>(*this, i, count == 1, order));
      workers.back()->gate = gates_[0].get();
    }
    outer_gate_ = gates_[0].get();
  }
  /// Before the threads start. `members`: the workers of each squad, which get a gate each, all in one ring, as in
  /// squad_extension::make_gates(); none: one gate for all.
  void give_extension(std::unique_ptr<executor_extension> its, bool mailbox,
                      std::vector<std::vector<std::uint32_t>> members, idle_config idle) {
    extension = std::move(its);
    has_mail = mailbox;
    where.all.members = std::move(members);
    for (auto const& w : workers) w->mailbox.is_used = mailbox, w->own_fibers.is_used = true;
    peers.resize(where.all.members.size());
    for (std::uint32_t s = 0; s != where.all.members.size(); ++s) {
      if (s != 0) {
        gates_.push_back(std::make_unique<idle_gate<>>(worker_count, idle));
        gates_[s]->join(*gates_[0]);
      }
      for (std::uint32_t const number : where.all.members[s]) {
        worker& w = *workers[number];
        w.gate = gates_[s].get();
        w.group = s;
        peers[s].push_back(&w);
      }
    }
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
  template <class Keep>
  void submit(queued_runnable& r, Keep&& keep) {
    if (worker* const w = own_worker(); w != nullptr) {
      unsigned const wave = wave_on(*w);
      keep(wave);
      work.add_work(w->number, wave);
      push(*w, r);
    } else {
      unsigned const wave = work.current_wave();
      keep(wave);
      enter_from_outside(r, 1, wave);
    }
  }
  void make_runnable(queued_runnable& r) {
    if (worker* const w = own_worker(); w != nullptr) {
      push(*w, r);
    } else {
      enter_from_outside(r, 0, work.current_wave());
    }
  }
  /// Requests have one priority.
  void make_runnable(queued_runnable& r, priority, worker*) { make_runnable(r); }
  unsigned add_work() noexcept {
    if (worker* const w = own_worker(); w != nullptr) {
      unsigned const wave = wave_on(*w);
      work.add_work(w->number, wave);
      return wave;
    }
    unsigned const wave = work.current_wave();
    work.started_outside(wave);
    return wave;
  }
  static void ended(worker& w, unsigned wave) noexcept { work_count<>::count_end(w.ended, wave); }
  void tell_begin(worker&, task_view const&) noexcept {}
  void tell_end(worker&, task_view const&) noexcept {}
  void tell_module_end(worker&, task_view const&) noexcept {}
  void flush(worker& w) {
    w.report_pending_count();
    work.ended(w.number, w.ended[0], w.ended[1]);
  }
  void wait_idle() {
    work_count<>::waiter me;
    if (!work.wait(me)) return;
    thread_waiter<os_env, 0> sleeper;  // as in the double of wait.hpp
    if (me.over.add_entry(sleeper)) sleeper.wait();
  }

  runnable* take_submitted(worker& w) {
    if (!w.own_fibers.maybe_empty()) [[unlikely]] {
      if (runnable* const r = take_own(w); r != nullptr) return r;
    }
    if (has_mail) {
      if (runnable* const r = take_mail(w); r != nullptr) return r;
    }
    return take_request(w);
  }
  runnable* take_own(worker& w) noexcept {
    bool more = false;  // no other thread looks for them
    return w.own_fibers.take(more);
  }
  void make_runnable_on(worker& w, queued_runnable& r) {
    w.own_fibers.push(r);
    os_env::fence(std::memory_order_seq_cst);  // S1, A1: a worker that falls asleep sees it, or is seen
    w.notification.raise();
    w.gate->wake(w.number);
  }
  void give(worker& w, queued_runnable& r) {
    w.mailbox.push(r);
    w.gate->wake_for(w.number);  // S1
  }
  static queued_runnable* take_mail(worker& w) noexcept {
    bool more = false;
    queued_runnable* const r = w.mailbox.take(more);
    if (more) w.gate->wake_for(w.number);  // S1, as in give()
    return r;
  }
  runnable* take_any_mail() {
    for (auto const& w : workers) {
      if (runnable* const r = take_mail(*w); r != nullptr) return r;
    }
    return nullptr;
  }
  runnable* take_request(worker& w, unsigned most = 1) noexcept;  // between_tasks.hpp

  // No worker is asked: a busy worker looks for requests when its own work has ended.
  void notify_busy() noexcept {}
  static void notify_busy(worker&) noexcept {}
  static void ask_to_look(worker&) noexcept {}
  void ask_all(worker const&) const noexcept {}
  worker* open_task_stacks(worker&) noexcept { return nullptr; }
  bool something_waits(worker const&) const noexcept { return false; }
  bool is_permit_over(worker const&) const noexcept { return false; }  // permits: permit_line.cpp
  bool something_from_outside() const noexcept { return !requests.maybe_empty(); }
  static runnable* join_loop(worker const&) noexcept { return nullptr; }

  static void* allocate_block(std::size_t bytes) { return ::operator new(bytes); }
  static void* allocate_block_on(worker*, std::size_t bytes) { return ::operator new(bytes); }
  void check_open() const noexcept {}
  static void check_process(unsigned) noexcept {}
  /// Nothing is given back here.
  static constexpr std::int64_t trim_after = 0;
  static bool begin_trim(bool = false) noexcept { return false; }
  template <class Still>
  static void trim(Still, bool) noexcept {}
  static void end_trim() noexcept {}
  unsigned generation() const noexcept { return 0; }
  unobserved_exceptions& unobserved() const noexcept { return *unobserved_; }
  bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }

  bool work_for(worker const& thief) const noexcept {
    if (!requests.maybe_empty() || !thief.own_fibers.maybe_empty()) return true;
    for (auto const& w : workers) {
      if (!w->deque.maybe_empty()) return true;
      if (has_mail && !w->mailbox.maybe_empty()) return true;
    }
    return false;
  }
  static constexpr std::uint64_t serial() noexcept { return 1; }

  /// Which workers share a cache.
  struct placement {
    struct {
      std::vector<std::vector<std::uint32_t>> members;
    } all;
    auto const& squads() const noexcept { return all; }
  };
  placement where;
  std::vector<std::vector<worker*>> peers;  ///< by squad
  std::size_t const worker_count;
  static constexpr void* on_task = nullptr;

  std::vector<std::unique_ptr<worker>> workers;
  work_count<> work;
  /// Requests of one priority.
  struct one_lane : injection_queue<queued_runnable> {
    bool maybe_urgent() const noexcept { return false; }
  };
  one_lane requests;
  /// No thread looks at a hang here.
  struct no_notes {
    static void add(auto&) noexcept {}
    static void remove(auto&) noexcept {}
    static outside_note const* first() noexcept { return nullptr; }
  };
  [[no_unique_address]] no_notes outside;
  [[no_unique_address]] worker::no_loops loops_of_outside;
  fork_order const order = fork_order::parent_first;
  join_strategy const joins = join_strategy::park;
  std::unique_ptr<executor_extension> extension;  ///< none, unless it was given one
  thread_permits* const limit = nullptr;
  bool has_mail = false;

  // The worker loop calls these for other policies, and for forked tasks.
  void give_up_fibers(worker&) noexcept {}
  // No thread outside waits for a worker's place here.
  bool gives_place(worker const&) const noexcept { return false; }
  void withdraw_gift() noexcept {}
  void give_up_unused(worker&) noexcept {}
  static runnable* steal_continuation(worker&, steal_status&) noexcept { return nullptr; }

 private:
  worker* own_worker() const noexcept {
    worker* const w = this_worker();
    return w != nullptr && &w->scheduler == this ? w : nullptr;
  }
  void enter_from_outside(queued_runnable& r, std::uint64_t units, unsigned wave) {
    work.enter(units, wave);
    announce(*outer_gate_, requests.push(r));
    work.leave(wave);
  }
  void announce(idle_gate<>& at, bool first, bool goes_on = false) noexcept {
    if (!at.submitted(goes_on) && first) notify_busy();
  }
  unsigned wave_on(worker& w) const noexcept {
    runnable const* const task = w.current.load(std::memory_order_relaxed)->running.load(std::memory_order_relaxed);
    if (task == nullptr || task->what == nullptr || task->what->operations->wave == nullptr) return work.both;
    return task->what->operations->wave(*task);
  }
  void thread_main(std::size_t i) {
    worker& w = *workers[i];
    set_this_worker(&w);
    loop_(w.only);
    set_this_worker(nullptr);
  }
  void stop_and_join() noexcept {
    stop_.store(true, std::memory_order_release);  // release: pairs with stopping()
    outer_gate_->wake_all();
    for (std::size_t i = 0; i < workers.size(); ++i) threads_[i].join();
  }

  std::unique_ptr<unobserved_exceptions, unobserved_exceptions::closing> const unobserved_{new unobserved_exceptions};
  loop_function const loop_;
  std::vector<std::unique_ptr<idle_gate<>>> gates_;
  idle_gate<>* outer_gate_ = nullptr;
  virtual_thread* threads_;
  os_env::atomic<bool> stop_{false};
};

}  // namespace heist::detail

#include "heist/core/scheduler/ready_tasks.ipp"
