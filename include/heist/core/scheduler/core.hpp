// The part of an executor that does not depend on its policy: workers, queues, counters, fibers, start and stop.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <span>
#include <string>
#include <thread>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/extension/policy_config.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/observe/outside_waits.hpp"
#include "heist/core/observe/watchdog.hpp"
#include "heist/core/policy/options.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/policy/placement.hpp"
#include "heist/core/policy/thread_permits.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/open_loops.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/scheduler/worker.hpp"
#include "heist/core/sync/idle_gate.hpp"
#include "heist/core/sync/os_thread.hpp"
#include "heist/core/sync/request_lanes.hpp"
#include "heist/core/sync/unobserved.hpp"
#include "heist/core/sync/work_count.hpp"

namespace heist::detail {

class graph_listener;
struct attempt;
struct async_base;
struct parked_place;

/// More than any machine has; a count above it is a negative number or an uninitialised one.
inline constexpr std::size_t max_workers = event_count<>::max_waiters;

/// A larger number is a negative one or one that was never set, and sums with it would wrap.
inline constexpr std::size_t most_fibers = std::size_t{1} << 26;

/// A caller has found nobody asleep, and wants the place of a worker that searches (executor/README.md, "Helpers").
enum class place_wish : std::uint8_t {
  none,
  wanted,
  given  ///< one of them is about to sleep
};

/// Threads  push() by the worker named; everything else that is public by any thread unless it says otherwise.
class core {
 public:
  /// Called on a fiber for the first time: the worker loop.
  using loop_function = void (*)(fiber& self);
  /// Called for events of a fiber that observers want to know; null without an observer.
  using fiber_hook = void (*)(core& self, worker& w, fiber const& f, fiber_event what) noexcept;
  /// Told that a task begins or ends on `w`, by tasks that the worker's loop says nothing of (described_operations), and of
  /// the ends of modules.
  enum class task_event { begins, ends, module_ends };
  using task_hook = void (*)(core& self, worker& w, task_view const& task, task_event what) noexcept;
  core(attempt const& asked, policy_config config, loop_function loop, fiber_hook hook);
  core(core const&) = delete;
  core& operator=(core const&) = delete;
  /// The executor has called drain_and_stop().
  HEIST_RARE ~core();

  /// Starts the threads; all or none. Throws executor_error when the system refuses one.
  void start();

  /// Waits for all work, stops the workers and joins their threads. In a child of fork() it only forgets the threads.
  void drain_and_stop() noexcept;

  /// Adds a task to `w`'s own deque. If there is no memory for a longer one, it runs the task instead. Returns the
  /// worker that the calling code is on afterwards.
  HEIST_ALWAYS_INLINE worker& push(worker& w, runnable& r) {
    if (!w.deque.push(&r)) [[unlikely]]
      return run_without_memory(w, r);
    if (!w.alone) w.gate->pushed();
    return w;
  }
  /// The same, but if there is no memory for a longer deque, the task goes through the injection queue.
  HEIST_ALWAYS_INLINE void push(worker& w, queued_runnable& r) {
    if (w.deque.push(&r)) [[likely]] {
      if (!w.alone) w.gate->pushed();
    } else {
      announce(*w.gate, requests.push(r));
    }
  }

  /// Adds a unit of work that will end with ended(): from a worker of this executor to its deque, from any other thread
  /// to the injection queue (Algorithm 1). `keep(wave)` is told the unit's wave before it may run. Throws executor_error in a
  /// child of fork(), and from outside while the executor stops.
  template <class Keep>
  void submit(queued_runnable& r, Keep&& keep) {
    check_process();
    if (worker* const w = own_worker(); w != nullptr) {
      unsigned const wave = wave_on(*w);
      keep(wave);
      work.add_work(w->number, wave);
      push(*w, r);
    } else {
      unsigned const wave = work.current_wave();
      keep(wave);
      if (!work.enter_open(1, wave)) [[unlikely]]
        reject_while_stopping();
      receive_in(r, wave);
    }
  }

  /// Adds something that is part of a unit of work already counted: a parked fiber or task that can resume.
  void make_runnable(queued_runnable& r);

  /// The same, to a wanted place: to `to`, if that is not null, otherwise among the requests of its priority.
  void make_runnable(queued_runnable& r, priority how, worker* to);

  /// A unit of work has begun that will be pushed later; the caller sees to it that it ends. Returns its wave.
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
  /// A unit of work has ended, on worker `w`.
  static void ended(worker& w, unsigned wave) noexcept { work_count<>::count_end(w.ended, wave); }

  /// For runnables that tell their begin and end by themselves.
  void tell_begin(worker& w, task_view const& task) noexcept {
    if (on_task != nullptr) [[unlikely]]
      on_task(*this, w, task, task_event::begins);
  }
  void tell_end(worker& w, task_view const& task) noexcept {
    if (on_task != nullptr) [[unlikely]]
      on_task(*this, w, task, task_event::ends);
  }
  void tell_module_end(worker& w, task_view const& task) noexcept {
    if (on_task != nullptr) [[unlikely]]
      on_task(*this, w, task, task_event::module_ends);
  }

  /// The worker has nothing more to do for now: reports its counts. May push tasks that follow.
  void flush(worker& w) {
    w.report_pending_count();
    work.ended(w.number, w.ended[0], w.ended[1]);
  }

  /// Returns when all work submitted so far has ended, and the work that it has submitted. A worker of this executor
  /// must not call it. A task of another one parks, a thread outside blocks.
  void wait_idle();

  /// Exceptions of tasks that no caller has asked for.
  unobserved_exceptions& unobserved() const noexcept { return *unobserved_; }

  /// Returns the next runnable for `w` before `w` steals: its own fibers, then its mail, then the oldest request. Null:
  /// none.
  runnable* take_submitted(worker& w);
  /// A loop of any worker's tasks, which `w` helps with; null: there is none.
  runnable* join_loop(worker& w) noexcept;
  /// Wakes a worker for a loop that has just been opened. `inside`: by a task of this executor.
  void tell_open_loop(bool inside) noexcept;
  /// The fiber that has waited longest for `w` alone.
  runnable* take_own(worker& w) noexcept {
    bool more = false;  // no other worker looks for them
    return w.own_fibers.take(more);
  }
  /// The request that came first, or a loop of a thread outside to help with, by turns. Up to `most`, those after it, come to the worker's own deque, the next one last.
  runnable* take_request(worker& w, unsigned most = 1) noexcept;

  /// Adds a fiber that may resume on `w` only. Any thread; send_to(): one for which the executor stays.
  void make_runnable_on(worker& w, queued_runnable& r);
  void send_to(worker& w, queued_runnable& r) noexcept;

  // --- requests while all workers are busy (README.md, "Requests") ---

  /// All workers are busy, and there is a request: the first that can takes it.
  HEIST_RARE void notify_busy() noexcept;
  /// `w` looks at the waiting work when its task has ended or forks.
  static void notify_busy(worker& w) noexcept;
  /// The next fork of what `w` runs now is slow.
  HEIST_RARE static void ask_to_look(worker& w) noexcept;

  /// Gives `r` to `w`, which takes it before it steals from other workers, where the policy has mail. Any thread.
  void give(worker& w, queued_runnable& r);
  /// The oldest mail to `w`; the others stay, and `w` is told of them in case it has just looked and seen none.
  static queued_runnable* take_mail(worker& w) noexcept;
  /// The oldest mail to any worker, for one that has found nothing else.
  runnable* take_any_mail();

  /// A fiber for `w` to continue with, which runs the loop. Throws stack_error or bad_alloc.
  fiber& acquire_fiber(worker& w);
  /// A fiber with nothing on it, for a child of a task on `w`. Throws stack_error or bad_alloc.
  fiber& acquire_unused(worker& w);

  /// `w` is about to sleep: other workers may have the fibers that it keeps.
  void give_up_fibers(worker& w) noexcept;
  void give_up_cached(worker& w) noexcept;
  void give_up_unused(worker& w) noexcept;

  static constexpr std::int64_t trim_after = 1'000'000'000;  ///< nanoseconds asleep until memory is given back
  /// Claims the return of memory. True if there is more than the workers need soon, and no other worker has the claim.
  /// Call trim() after a while then, or end_trim(). `again`: in the same sleep.
  bool begin_trim(bool again = false) noexcept;
  /// Gives memory back, a little at a time as long as `still()`. A worker that is asleep calls it after begin_trim().
  template <class Still>
  void trim(Still still, bool again) noexcept;
  void end_trim() noexcept;

  /// Forked tasks of `w` have become public.
  void published(worker& w) noexcept;
  /// Continuations of `w` have become public.
  static void published_continuations(worker& w) noexcept;

  /// A fiber that has waited may be resumed. Any thread.
  void make_ready(fiber& f);

  /// The youngest frame that has called a child on `w`, for its worker to continue with because the child waits, which
  /// runs on fiber `child`; null if there is none or it is stolen.
  caller_frame* take_own_continuation(worker& w, fiber& child) noexcept;
  void shelve_continuations(worker& w, fiber& child);
  /// All of `w`'s continuations have been stolen, and the children that they called are about to leave or have ended.
  static void forget_continuations(worker& w) noexcept;
  /// A frame to continue with, as something to run at once.
  static runnable* steal_continuation(worker& stolen_from, steal_status& status) noexcept;
  /// The child on fiber `child` has ended, the continuation of its caller has been stolen, which it knows: continues
  /// with the loop. Returns when the fiber is called again, with nothing left to do.
  static void finish_child(fiber& child) noexcept;

  /// Is there a request, or a loop of a thread outside to help with?
  HEIST_ALWAYS_INLINE bool something_from_outside() const noexcept {
    return !requests.maybe_empty() || loops_of_outside.may_enter();
  }
  /// Workers 0 to this - 1 have threads: all, but the one of options::caller_is_worker.
  std::size_t threaded_workers() const noexcept { return worker_count - (has_caller_place_ ? 1 : 0); }
  bool is_for_caller(worker const& w) const noexcept { return w.number == threaded_workers(); }
  /// Is there something that `w` could take without robbing other workers?
  bool something_for(worker const& w) const noexcept { return something_from_outside() || !w.own_fibers.maybe_empty(); }
  /// Is that so, or is `w` to pass its permit on?
  bool something_waits(worker const& w) const noexcept { return something_for(w) || is_permit_over(w); }
  void* joined_limit() const noexcept { return joined_limit_; }
  bool is_permit_over(worker const& w) const noexcept { return limit != nullptr && limit->is_over(w); }

  /// Throws executor_error if this process is a child of the one that made the executor.
  void check_process() const { check_process(generation_); }
  static void check_process(unsigned generation) {
    if (os_env::process() != generation) [[unlikely]]
      reject_after_fork();
  }
  /// Throws executor_error as well where the executor's destructor has waited for all work, and nothing would be run.
  void check_open() const;
  /// Does it exist? For handles that may outlive it. Another executor at the same address counts.
  static bool is_alive(core const* of) noexcept;
  unsigned generation() const noexcept { return generation_; }
  /// The floating-point modes that tasks begin with.
  control_words modes() const noexcept { return modes_; }
  /// The number of this executor in the process; not 0.
  std::uint64_t serial() const noexcept { return serial_; }

  bool stopping() const noexcept { return stop_.load(std::memory_order_acquire); }  // acquire: pairs with the stop
  /// Asked by a worker that searches. True: it is to sleep, so that a helper can have its place.
  bool gives_place(worker const& w) noexcept {
    return wish_.load(std::memory_order_relaxed) == place_wish::wanted && take_wish(w);  // relaxed: a hint
  }
  void withdraw_gift() noexcept;  ///< it does not sleep

  /// May `thief` find something? Called before it sleeps: every source of work is named here and nowhere else. Asks
  /// workers that have nothing to give to make their forks public.
  bool work_for(worker const& thief) const noexcept;
  /// Has `w` forked something that is public? If not, asks it to.
  static bool stealable(worker& w, bool with_frames) noexcept;
  /// Asks all owners to make private tasks public. `thief` calls it before it looks for the last time and sleeps.
  void ask_all(worker const& thief) const noexcept;
  /// Makes private tasks public whose owners run long tasks. A thief calls it when its requests had no effect. Returns
  /// a worker that has public tasks now, or null.
  HEIST_RARE worker* open_task_stacks(worker& thief) noexcept;
  /// Does so for at most 64 task stacks, with one heavy fence. Returns one that has public tasks now, or null.
  HEIST_RARE fiber* open_task_stacks(std::span<fiber* const> stacks) noexcept;
  /// Child-first: shall the next continuation of `w` be public? `n` of them are public already. A thief cannot open a stack
  /// of continuations. So one more is public than there are idle workers, and all are public while tasks are long.
  bool needs_continuations(worker& w, std::size_t n) noexcept;

  /// A snapshot.
  std::size_t sleeping_workers() const noexcept;

  /// One line per worker, and one for each parked task, with the reason of its wait. Approximate.
  std::string state_text() const;
  /// The state that changes with any event, and whether a thread or task waits.
  watchdog::look look() const;

  /// A block for an object that is made by any thread and destroyed by a worker's pool. Throws bad_alloc.
  void* allocate_block(std::size_t bytes);
  /// The same for the calling thread, which is `w` (null: of no executor).
  void* allocate_block_on(worker* w, std::size_t bytes);

  placement where;
  std::size_t const worker_count;
  block_freelist freelist;
  vector<unique_ptr<worker>> workers;
  work_count<> work;
  request_lanes<queued_runnable> requests;  ///< from outside
  outside_waits outside;                    ///< the waits of runs that no fiber waits for
  fiber_hook const on_fiber;
  task_hook on_task = nullptr;         ///< null without an observer; set before the workers start
  graph_listener* on_graph = nullptr;  ///< null unless an observer records
  /// Called at its end, if its tasks had time limits: one for each copy of heist in the process. Under the lock of the copy's
  /// timers.
  std::array<void (*)() noexcept, 4> leaves_timers{};
  join_strategy const joins;
  fork_order const order;  ///< the order of contexts that leave it to the executor
  bool const has_mail;
  open_loops loops_of_outside;                     ///< as worker::loops
  unique_ptr<executor_extension> const extension;  ///< of the policy; null: none
  remote_extension* remote_executors() const noexcept { return extension == nullptr ? nullptr : extension->executors; }
  thread_permits* const limit;  ///< which it shares with other executors; null: none

  void run_loop(fiber& self) const { loop_(self); }

  // --- threads (blocking.hpp) ---

  os_thread* find_os_thread() noexcept;
  bool rest(os_thread& c) noexcept;

  /// The calling thread, which is no worker, runs the task, and other work as a worker, until the task has ended.
  /// False if no worker sleeps, or there is another helper: nothing has been done.
  bool run_as_helper(async_base& task);
  void give_worker_back(worker& w) noexcept;
  void helper_has_left() noexcept;

 private:
  /// The calling thread's worker, if it is one of this executor.
  worker* own_worker() const noexcept;

  /// As a visitor.
  void receive_in(queued_runnable& r, unsigned wave);
  void enroll() noexcept;
  static std::string cycle_among(outside_note const* next, vector<parked_place>& places);
  void add_places(vector<parked_place>& places) const;
  void strike_off() noexcept;
  /// A request is in the injection queue: wakes a worker, or makes busy ones look. `first`: of its batch.
  void announce(idle_gate<>& at, bool first, bool goes_on = false) noexcept;
  /// The wave of the units that a task on `w` begins: the task's own, or both where that is not known.
  unsigned wave_on(worker& w) const noexcept;
  HEIST_ONE_COPY static inline constinit os_env::atomic<std::uint64_t> last_serial_{0};
  /// Where shared libraries have copies of the counter their addresses tell these apart.
  static std::uint64_t next_serial() noexcept;
  void wait_for_work();
  void wait_for_all_work();
  bool called_by_own_task() const noexcept;
  /// The youngest of all fibers, linked by next_of_all to the older ones, which stay.
  fiber const* all_fibers() const noexcept;
  fiber* make_fiber(worker& w);
  fiber* take_cached(worker& w) noexcept;
  fiber* take_kept(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept;
  fiber* take_chain(os_env::atomic<fiber*>& chains) noexcept;
  void put_chain(os_env::atomic<fiber*>& chains, fiber& first) noexcept;
  void give_up(fiber*& mine, os_env::atomic<fiber*>& chains) noexcept;
  [[noreturn]] void reject_fiber() const;
  void carry(os_thread& me, worker* first) noexcept;
  void name_thread(worker const* first) const noexcept;
  os_thread& start_os_thread(worker* first);  ///< which carries it, or nothing if that is null
  void release_os_threads() noexcept;
  void stop_and_join() noexcept;
  bool take_wish(worker const& w) noexcept;
  bool has_slot_for_helper() const noexcept { return worker_count != event_count<>::max_waiters; }
  worker* borrow_worker() noexcept;
  worker* wait_for_place() noexcept;
  /// The slot of `w` is lendable again: so is its thread.
  void return_to_sleep(worker& w) noexcept;
  void place_helper(helper& me, worker& w, fiber& first) noexcept;
  worker& run_without_memory(worker& w, runnable& r);
  [[noreturn]] static void reject_after_fork();
  [[noreturn]] static void reject_while_stopping();

  struct alignas(cache_line_size) outside_pool {
    explicit outside_pool(block_freelist& freelist) noexcept : blocks{freelist} {}
    spin_lock<> lock;
    block_pool blocks;
  };
  static constexpr unsigned outside_pool_bits = 3;
  /// Their stacks tell threads apart, by higher or lower bits of their addresses, as they were made.
  outside_pool& pool_of_this_thread() noexcept;
  std::array<outside_pool, 1u << outside_pool_bits> outside_pools_{
      outside_pool{freelist}, outside_pool{freelist}, outside_pool{freelist}, outside_pool{freelist},
      outside_pool{freelist}, outside_pool{freelist}, outside_pool{freelist}, outside_pool{freelist}};
  loop_function const loop_;
  unique_ptr<idle_gate<>> gate_;       // of all workers, unless the extension has some
  idle_gate<>* outer_gate_ = nullptr;  // where work from outside is announced
  std::size_t const stack_size_;
  std::size_t const max_fibers_;
  unique_ptr<unobserved_exceptions, unobserved_exceptions::closing> const unobserved_{new unobserved_exceptions};
  std::size_t const guard_size_;
  unsigned const generation_;
  control_words const modes_ = control_words::now().modes();  ///< the modes of the thread that makes it
  std::uint64_t const serial_ = next_serial();
  std::size_t const max_threads_;
  void* joined_limit_ = nullptr;                   ///< what the limit has given
  std::size_t started_ = 0;                        ///< threads of start()
  os_env::atomic<std::size_t> on_start_calls_{0};  ///< those that have called on_start_
  worker_hook const on_start_, on_stop_;
  bool const pinned_;              ///< each worker has a PU of its own
  bool has_caller_place_ = false;  ///< options::caller_is_worker: the last worker has no thread
  vector<std::thread> threads_;    ///< with room for max_threads_; grows under the lock
  watchdog watchdog_;

  bool enrolled_ = false;  ///< is_alive() knows it; used by the threads that make and end the executor
  struct enrolled : outside_note {
    core const* self = nullptr;
  };
  enrolled place_;  ///< among those of the program
  os_env::atomic<bool> stop_{false};
  os_env::atomic<place_wish> wish_{place_wish::none};
  os_env::atomic<bool> has_helper_{false};
  // Of wishes; used by the only helper. In ticks: nobody slept; the last wish. And wishes to be left out.
  std::uint64_t last_refused_ = 0, last_wish_ = 0;
  std::uint32_t forgo_ = 0, left_to_forgo_ = 0;
  os_env::atomic<bool> any_opener_{false};  // one thread opens task stacks at a time
  os_env::atomic<bool> long_tasks_{false};  // thieves have asked for continuations and waited
  os_env::atomic<bool> trim_claimed_{false};
  mutable spin_lock<> lock_;  // guards the rest
  unique_ptr<fiber> fibers_;  // all there are, linked by next_of_all
  unsigned fiber_count_ = 0;
  // Lists of fibers that workers have given up, linked by next_chain. Changed under the lock.
  os_env::atomic<fiber*> cached_chains_{nullptr}, unused_chains_{nullptr};
  /// The same of those whose memory has been given back.
  os_env::atomic<fiber*> trimmed_cached_chains_{nullptr}, trimmed_unused_chains_{nullptr};
  os_env::atomic<std::uint32_t> used_chains_{0};  ///< in the first two lists
  bool trims_list_ = false;                       ///< one is in none of the lists, and comes back soon
  std::size_t thread_count_;
  os_thread* idle_ = nullptr;         ///< threads that carry nothing, linked by `next`
  unique_ptr<os_thread> os_threads_;  ///< all there are, linked by next_of_all
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/checked_wait.ipp"
#include "heist/core/scheduler/core.ipp"
#include "heist/core/scheduler/core_fibers.ipp"
#include "heist/core/scheduler/ready_tasks.ipp"
#include "heist/core/scheduler/suspend.ipp"
#include "heist/core/scheduler/wait_on_top.ipp"
#endif
