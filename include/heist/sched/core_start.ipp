// How an executor's workers start and stop. Bodies of core.
#pragma once

#include "heist/sched/core.hpp"
#include "heist/sched/core_trim.hpp"
#include "heist/sched/overflow_report.hpp"
#include "heist/sched/wait.hpp"
#include "heist/topology/bind.hpp"
#include "heist/topology/cpu_quota.hpp"

namespace heist::detail {

/// More than any machine has; a count above it is a negative number or an uninitialised one.
inline constexpr std::size_t max_workers = event_count<>::max_waiters;

/// A larger number is a negative one or one that nobody has set, and sums with it would wrap.
inline constexpr std::size_t most_fibers = std::size_t{1} << 26;

HEIST_COLD_BODY void core::refuse_while_stopping() {
  throw executor_error{
      "the executor is being destroyed, and would not run what is given to it now (by the destructor of a thread_local "
      "object of a worker, or by a thread that outlives it); mend it by giving it before, or to another executor."};
}

HEIST_COLD_BODY std::size_t worker_count_for(options const& wanted, placement const& where) {
  if (wanted.workers > max_workers) {
    throw executor_error{
        fmt::format("an executor with {} workers: heist allows 1 to {}. Mend it by asking for as many workers as there "
                    "are cores, or "
                    "leave options::workers at 0 and get that.",
                    wanted.workers, max_workers)};
  }
  if (wanted.workers != 0) return wanted.workers;
  topology::machine const& machine = where.machine();
  // A machine described by hand gets a worker for each of its PUs; the real one what this process may use of it.
  std::size_t const usable = machine.is_this_machine ? topology::usable_cpus(machine) : machine.pu_count();
  return usable < max_workers ? usable : max_workers;
}

inline constexpr std::size_t largest_stack = std::size_t{1} << 40;

/// Each fiber is a mapping, or two with a guard where the kernel has no better; it allows some 65000.
HEIST_COLD_BODY std::size_t fiber_cap_for(options const& wanted, std::size_t workers) {
  if (wanted.max_fibers < workers) {
    throw executor_error{fmt::format(
        "options::max_fibers is {}, and {} workers need one each at least. Mend it by a larger number, some "
        "dozens for each worker, or more if many tasks wait at a time.",
        wanted.max_fibers, workers)};
  }
  if (wanted.max_fibers > most_fibers) {
    throw executor_error{fmt::format(
        "options::max_fibers is {}: heist allows up to {}, more than there is memory for. Mend it by the number of "
        "tasks that wait at a time, and some dozens for each worker; fibers are made as they are needed.",
        wanted.max_fibers, most_fibers)};
  }
  return wanted.max_fibers;
}

HEIST_COLD_BODY void check_stack_size(char const* name, std::size_t bytes) {
  if (bytes <= largest_stack) return;
  throw executor_error{
      fmt::format("options::{} is {} bytes: heist allows up to {}, more than any machine has for one task. Mend it by "
                  "a smaller one, or leave it out and get the default.",
                  name, bytes, largest_stack)};
}

HEIST_COLD_BODY std::size_t stack_size_for(options const& wanted) {
  constexpr std::size_t minimum = std::size_t{32} << 10;
  check_stack_size("stack_size", wanted.stack_size);
  return wanted.stack_size < minimum ? minimum : wanted.stack_size;
}

/// 0: none is wanted.
HEIST_COLD_BODY std::size_t guard_size_for(options const& wanted) {
  if (!wanted.guard_pages) return 0;
  check_stack_size("guard_size", wanted.guard_size);
  return wanted.guard_size == 0 ? 1 : wanted.guard_size;  // in whole pages
}

HEIST_COLD_BODY core::core(options const& wanted, policy_rules rules, loop_function loop, fiber_hook hook)
    : where{wanted, rules.tiers != tiering::none},
      worker_count{worker_count_for(wanted, where)},
      tiers{rules.tiers},
      work{worker_count},
      on_fiber{hook},
      joins{rules.joins},
      order{rules.order},
      loop_{loop},
      stack_size_{stack_size_for(wanted)},
      max_fibers_{fiber_cap_for(wanted, worker_count)},
      guard_size_{guard_size_for(wanted)},
      generation_{os_env::process()},
      counters_{rules.counters} {
  os_env::watch_forks();
  where.place(wanted, worker_count);
  os_env::prepare();
  if (guard_size_ != 0) overflow_report::install();
  workers.reserve(worker_count);
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    std::size_t const bytes = (max_fibers_ + fork_stack::scratch) * sizeof(continuation_slot);
    workers.push_back(
        std::make_unique<worker>(*this, i, worker_count == 1, i + 1, depot, stack::map(0, bytes, 0), max_fibers_));
  }
  make_squads(rules.idle);
}

HEIST_COLD_BODY void core::start(options const& wanted) {
  bool const pin = wanted.pin == pinning::pus && where.machine().is_this_machine;
  try {
    threads_.reserve(workers.size());
    // All fibers before the first thread: thieves look at everybody's.
    for (auto& w : workers) {
      fiber& first = obtain_fiber(*w);  // before the thread: its memory can be refused, too
      first.on = w.get();
      w->current.store(&first, std::memory_order_relaxed);  // relaxed: starting the threads publishes it
    }
    for (auto& w : workers) {
      threads_.emplace_back([this, &w = *w, pin]() noexcept { thread_main(w, pin); });
    }
  } catch (std::system_error const& e) {
    std::size_t const started = threads_.size();
    stop_and_join();
    throw executor_error{fmt::format(
        "cannot start thread {} of {}: {}. Mend it by {}raising the limit on processes (ulimit -u, pids.max of the "
        "container).",
        started + 1, workers.size(), e.what(),
        started == 0 ? "" : fmt::format("asking for at most {} workers (options::workers), or by ", started))};
  } catch (...) {
    stop_and_join();
    throw;
  }
  watchdog_.start([this] { return look(); }, [this] { return state_text(); });
}

HEIST_COLD_BODY void core::thread_main(worker& w, bool pin) noexcept {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);  // a worker that vanished would take its tasks along
  set_this_worker(&w);
  w.thread.store(os_env::thread_number(), std::memory_order_relaxed);  // relaxed: for people
  if (pin) topology::bind_this_thread(where.machine(), where.squads().pu_of_worker[w.number]);
  w.signals.enter(w);
  flow boot;
  w.boot = &boot;
  // relaxed: its own
  flow::switch_to(boot, w.current.load(std::memory_order_relaxed)->own_flow(), {nullptr, nullptr});
  // Back when the executor stops.
  w.signals.leave();
  set_this_worker(nullptr);
}

HEIST_COLD_BODY void core::stop_and_join() noexcept {
  watchdog_.stop();
  stop_.store(true, std::memory_order_release);  // release: pairs with stopping()
  door_->wake_all();
  for (auto& t : threads_) t.join();
  threads_.clear();
}

HEIST_COLD_BODY void core::drain_and_stop() noexcept {
  if (os_env::process() != generation_) {
    // The threads exist in the parent only: nothing to wait for, nothing to join, and nothing to
    // free that they use.
    new std::vector<std::thread>{std::move(threads_)};
    watchdog_.forget();
    static_cast<void>(fibers_.release());
    return;
  }
  if (own_worker() != nullptr) {
    HEIST_FATAL(
        "an executor is destroyed by one of its own tasks, which it would have to wait for; "
        "mend it by destroying it outside, after the task");
  }
  wait_for_work();
  work.close();
  wait_for_work();
  work.wait_for_visitors();
  stop_and_join();
}

HEIST_COLD_BODY void core::wait_idle() {
  check_process();
  if (own_worker() != nullptr) {
    throw executor_error{
        "wait_idle() inside a task of the same executor would wait for itself; mend it by waiting outside, or by "
        "waiting "
        "for the future of each task."};
  }
  wait_for_work();
}

HEIST_COLD_BODY void core::wait_for_work() {
  work_count<>::waiter me;
  if (!work.wait(me)) return;
  if (worker* const w = this_worker(); w != nullptr) {
    fiber& here = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    here.wait_for(me.over, {"all work of an executor"});        // it has to stay until it is told
    return;
  }
  wait_outside(me.over);
}

HEIST_COLD_BODY void core::refuse_after_fork() {
  throw executor_error{
      "this process is a child made by fork(), and the executor's threads exist in its parent only; mend it by making "
      "the executor after fork()."};
}

}  // namespace heist::detail
