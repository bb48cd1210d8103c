// The part of an executor that does not depend on its policy: workers, queues, counters, fibers, start and stop.
#pragma once

#include <fmt/format.h>
#include <pthread.h>  // pthread_atfork

#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <exception>  // exception_ptr
#include <memory>     // unique_ptr
#include <new>        // bad_alloc
#include <string>
#include <system_error>
#include <thread>
#include <utility>  // move, exchange
#include <vector>

#include "heist/base/assert.hpp"
#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/memory/stack.hpp"
#include "heist/observe/counter_handle.hpp"
#include "heist/policy/order.hpp"
#include "heist/policy/tier.hpp"
#include "heist/sched/current.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/idle_gate.hpp"
#include "heist/sched/options.hpp"
#include "heist/sched/placement.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sched/work_count.hpp"
#include "heist/sched/worker.hpp"
#include "heist/sync/master_queue.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// The constants of a policy as values, for the code that need not know its type.
struct policy_rules {
  idle_rules idle;
  join_strategy joins;
  fork_order order;
  tiering tiers;
  counter_operations const* counters;  ///< null: nothing is measured
};

/// What becomes of a fiber, or of a join on it that waits without parking.
enum class fiber_event {
  parks,
  goes_on,  ///< after having parked
  waits,    ///< its youngest join waits, with nothing to run meanwhile
  tries,    ///< that join tries to take a task,
  takes,    ///< has one, and runs it
  works,    ///< that join is over
  enters,   ///< an inter-squad task begins on it, or goes on after its children
  leaves,   ///< that task has ended, or waits for inter-squad children
  moves     ///< its worker goes on with it, within the subtree of an inter-squad task
};

/// Counts the fork()s between the first process and this one, from watch_forks() on.
inline os_env::atomic<unsigned>& process_generation() noexcept {
  static constinit os_env::atomic<unsigned> generation{0};
  return generation;
}

/// Throws bad_alloc if the system has no memory to note it; another call tries again.
inline void watch_forks() {
  static bool const watched = [] {
    if (::pthread_atfork(nullptr, nullptr, [] {
          process_generation().fetch_add(1, std::memory_order_relaxed);  // relaxed: the child has one thread
        }) != 0)
      throw std::bad_alloc{};
    return true;
  }();
  static_cast<void>(watched);
}

/// Threads  push() by the worker named; everything else that is public by any thread unless it says otherwise.
class core {
 public:
  /// Called on a fiber for the first time: the worker loop.
  using loop_function = void (*)(fiber& on);
  /// Told what a fiber does that observers want to know; null when nobody observes.
  using fiber_hook = void (*)(core& self, worker& w, fiber const& f, fiber_event what) noexcept;

  core(options const& wanted, policy_rules rules, loop_function loop, fiber_hook hook);
  core(core const&) = delete;
  core& operator=(core const&) = delete;
  /// The executor has called drain_and_stop().
  ~core() {
    while (fibers_ != nullptr) {  // one after the other, not one inside the other
      std::unique_ptr<fiber> next = std::move(fibers_->next_of_all);
      fibers_ = std::move(next);
    }
  }

  /// Starts the threads; all or none. Throws executor_error when the system refuses one.
  void start(options const& wanted);

  /// Waits for all work, stops the workers and joins their threads. In a child of fork() it only forgets the threads.
  void drain_and_stop() noexcept;

  /// Adds a task to `w`'s own deque. Without memory for a longer one it runs the task instead. Returns the worker that
  /// the calling code is on afterwards.
  HEIST_ALWAYS_INLINE worker& push(worker& w, runnable& r) {
    if (!w.deque.push(&r)) [[unlikely]]
      return run_without_memory(w, r);
    if (!w.alone) w.gate->pushed();
    return w;
  }
  /// As above; without memory for a longer deque it goes through the master queue.
  HEIST_ALWAYS_INLINE void push(worker& w, queued_runnable& r) {
    if (w.deque.push(&r)) [[likely]] {
      if (!w.alone) w.gate->pushed();
    } else {
      master.push(r);
      w.gate->submitted();
    }
  }

  /// Adds a unit of work that will end with ended(): from a worker of this executor to its deque, from any other thread
  /// to the master queue (Algorithm 1). Throws executor_error in a child of fork().
  void submit(queued_runnable& r) {
    check_process();
    if (worker* const w = own_worker(); w != nullptr) {
      work.began(w->number);
      push(*w, r);
    } else {
      enter_from_outside(r, 1);
    }
  }

  /// Adds something that is part of a unit of work already counted: a parked fiber or task that can go on.
  void make_runnable(queued_runnable& r) {
    if (worker* const w = own_worker(); w != nullptr) {
      push(*w, r);
    } else {
      enter_from_outside(r, 0);
    }
  }

  /// A unit of work has begun that will be pushed later; the caller sees to it that it ends.
  void began() noexcept {
    if (worker* const w = own_worker(); w != nullptr) {
      work.began(w->number);
    } else {
      work.began_outside();
    }
  }
  /// A unit of work has ended, on worker `w`.
  static void ended(worker& w) noexcept { ++w.ended; }

  /// The worker has nothing more to do for now: tells everybody who counts. May push what follows.
  void settle(worker& w) {
    w.report_tally();
    work.ended(w.number, w.ended);
  }

  /// Blocks the calling thread, which is no worker of this executor, until all work submitted so far has ended.
  void wait_idle();

  /// The first exception of a task that nobody waits for.
  void keep_exception(std::exception_ptr e) noexcept {
    spin_guard guard{lock_};
    if (!lost_exception_) lost_exception_ = std::move(e);
  }
  std::exception_ptr take_exception() noexcept {
    spin_guard guard{lock_};
    return std::exchange(lost_exception_, nullptr);
  }

  /// Takes what has been submitted from outside: one task to run now, the rest into `w`'s deque, oldest to run first.
  runnable* take_submitted(worker& w) {
    if (!w.own_fibers.maybe_empty()) [[unlikely]] {
      if (runnable* const r = take_oldest(w.own_fibers); r != nullptr) return r;
    }
    if (order == fork_order::recorded) {
      if (runnable* const r = take_oldest(w.donated); r != nullptr) return r;
    }
    queued_runnable* r = master.take_all();
    if (r == nullptr) return nullptr;
    while (r->next != nullptr) {
      queued_runnable* const older = r->next;  // read before the push: a thief may run and free it
      push(w, *r);
      r = older;
    }
    return r;
  }

  /// Adds a fiber that may go on on `w` only. Any thread.
  void make_runnable_on(worker& w, queued_runnable& r) {
    w.own_fibers.push(r);
    os_env::fence(std::memory_order_seq_cst);  // S1: a worker that falls asleep sees it, or is seen
    w.gate->wake_here();
  }

  /// Gives `r` to `w`, which takes it before it robs anybody. Any thread.
  void donate(worker& w, queued_runnable& r) {
    w.donated.push(r);
    os_env::fence(std::memory_order_seq_cst);  // S1, as above
    w.gate->wake_here();
  }
  /// The oldest gift to any worker, for one that has found nothing else.
  runnable* take_donated() {
    for (auto const& w : workers) {
      if (runnable* const r = take_oldest(w->donated); r != nullptr) return r;
    }
    return nullptr;
  }

  /// A fiber for `w` to go on with, which runs the loop. Throws stack_error or bad_alloc.
  fiber& obtain_fiber(worker& w);
  /// A fiber with nothing on it, for a child of a task on `w`. Throws stack_error or bad_alloc.
  fiber& obtain_fresh(worker& w);

  /// `w` is about to sleep: others may have the fibers that it keeps.
  void give_up_fibers(worker& w) noexcept;
  void give_up_spare(worker& w) noexcept;
  void give_up_fresh(worker& w) noexcept;

  /// Forked tasks of `w` have become public.
  void published(worker& w) noexcept;
  /// Continuations of `w` have become public.
  static void published_continuations(worker& w) noexcept;

  /// Lets a fiber that has waited go on. Any thread.
  void let_go_on(fiber& f);

  // --- squads, where the policy has tiers (squad_set.hpp) ---

  /// The task that keeps `w`'s squad busy has ended, or waits for inter-squad children.
  void release_squad(worker& w, squad_task& task) noexcept;
  /// Something that the head of `w`'s squad, which is `w`, may take; null if the squad is busy, or after an attempt
  /// that failed.
  pooled_runnable* take_inter(worker& w) noexcept;
  /// How much cache each squad has to itself; 0 if that is not known.
  std::uint64_t squad_cache_bytes() const noexcept { return squad_cache_bytes_; }
  /// What the core that `w` runs on has counted. By `w`; its first call opens the counters.
  counter_values read_counters(worker& w) noexcept;
  /// After the first read_counters() of some worker.
  bool counters_available() const noexcept { return counters_available_; }
  std::string const& counters_why_not() const noexcept { return counters_why_not_; }
  /// The youngest frame that has called a child on `w`, for its worker to go on with because the child waits, which
  /// runs on fiber `child`; null if there is none or it is stolen.
  calling_frame* take_own_continuation(worker& w, fiber& child) noexcept;
  /// All of `w`'s continuations have been stolen, and what they called is about to leave or has ended.
  static void forget_continuations(worker& w) noexcept;
  /// A frame to go on with, as something to run at once.
  static runnable* steal_continuation(worker& robbed, steal_status& status) noexcept;
  /// The child on fiber `child` has ended, its caller has been overtaken and knows of it: goes on with the loop.
  /// Returns when the fiber is called again, with nothing left to do.
  static void leave_child(fiber& child) noexcept;

  /// Throws executor_error if this process is a child of the one that made the executor.
  void check_process() const { check_process(generation_); }
  static void check_process(unsigned generation) {
    // relaxed: changes only in a new process
    if (process_generation().load(std::memory_order_relaxed) != generation) [[unlikely]]
      refuse_after_fork();
  }
  unsigned generation() const noexcept { return generation_; }
  /// Of this executor, of all that there have been; not 0.
  std::uint64_t serial() const noexcept { return serial_; }

  bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }  // acquire: pairs with the stop

  /// May `thief` find something? Asked before it sleeps: every source of work is named here and nowhere else. Those who
  /// have nothing to give are asked to make what they fork public.
  bool work_for(worker const& thief) const noexcept {
    if (!master.maybe_empty() || !thief.own_fibers.maybe_empty()) return true;
    for (auto const& w : workers) {
      // Frames stay in their squad.
      if (!w->deque.maybe_empty() || stealable(*w, w->in == thief.in)) return true;
      if (order == fork_order::recorded && !w->donated.maybe_empty()) return true;
    }
    return thief.in != nullptr && squads.may_take(*thief.in, thief.head);
  }
  /// Has `w` forked something that is public? If not it is asked to.
  static bool stealable(worker& w, bool with_frames) noexcept {
    // acquire: see worker::current
    auto& tasks = w.current.load(std::memory_order_acquire)->tasks;
    if (tasks.maybe_stealable() || (with_frames && w.continuations.maybe_stealable())) return true;
    tasks.ask();
    if (with_frames) w.continuations.ask();
    return false;
  }

  /// One line per worker, for people who look at a hang. Approximate.
  std::string state_text() const;

  /// A block for an object that is made by any thread and destroyed by a worker's pool. Throws bad_alloc.
  void* allocate_block(std::size_t bytes) {
    if (worker* const w = own_worker(); w != nullptr) return w->blocks.allocate(bytes);
    // Threads outside share a few pools; their stacks tell them apart.
    char const here = 0;
    outside_pool& pool = outside_pools_[(reinterpret_cast<std::uintptr_t>(&here) >> 20) % outside_pools_.size()];
    spin_guard guard{pool.lock};
    return pool.blocks.allocate(bytes);
  }

  placement where;
  std::size_t const worker_count;
  block_depot depot;
  std::vector<std::unique_ptr<worker>> workers;
  tiering const tiers;
  squad_set<pooled_runnable, queued_runnable> squads;  ///< empty if the policy has no tiers
  work_count<> work;
  master_queue<queued_runnable> master;
  fiber_hook const on_fiber;
  join_strategy const joins;
  fork_order const order;  ///< what a context that leaves the order to the executor does

  void run_loop(fiber& on) const { loop_(on); }

 private:
  static constexpr std::size_t minimum_stack = std::size_t{32} << 10;
  /// The oldest; the others stay, for the worker that takes it or one that is awake because of them.
  static queued_runnable* take_oldest(master_queue<queued_runnable>& from) noexcept {
    bool more = false;
    return from.take_oldest(more);
  }
  /// The calling thread's worker, if it is one of this executor.
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

  void make_squads(idle_rules rules);
  static std::uint64_t next_serial() noexcept {
    static constinit os_env::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number
  }
  fiber& make_fiber(worker& w);
  fiber* take_kept(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept;
  void give_up(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept;
  [[noreturn]] void refuse_fiber() const;
  void thread_main(worker& w, bool pin) noexcept;
  void stop_and_join() noexcept;
  worker& run_without_memory(worker& w, runnable& r);
  [[noreturn]] static void refuse_after_fork();

  struct alignas(cache_line_size) outside_pool {
    explicit outside_pool(block_depot& depot) noexcept : blocks{depot} {}
    spin_lock<> lock;
    block_pool blocks;
  };
  std::array<outside_pool, 4> outside_pools_{outside_pool{depot}, outside_pool{depot}, outside_pool{depot},
                                             outside_pool{depot}};
  loop_function const loop_;
  std::unique_ptr<idle_gate<>> gate_;  // of all workers, where there are no squads
  idle_gate<>* door_ = nullptr;        // where work from outside is announced
  std::vector<std::vector<worker*>> squad_members_;
  std::size_t const stack_size_;
  std::size_t const max_fibers_;
  bool const guard_pages_;
  unsigned const generation_;
  std::uint64_t const serial_ = next_serial();
  std::uint64_t squad_cache_bytes_ = 0;
  counter_operations const* const counters_;
  std::vector<std::thread> threads_;

  os_env::atomic<bool> stop_{false};
  spin_lock<> lock_;               // guards the rest
  std::unique_ptr<fiber> fibers_;  // all there are, linked by next_of_all
  unsigned fiber_count_ = 0;
  // Lists of fibers that workers have given up, linked by next_chain. Changed under the lock.
  os_env::atomic<fiber*> spare_chains_{nullptr}, fresh_chains_{nullptr};
  std::exception_ptr lost_exception_;
  bool counters_known_ = false, counters_available_ = false;
  std::string counters_why_not_;
};

}  // namespace heist::detail
