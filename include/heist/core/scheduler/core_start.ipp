// How an executor's workers start and stop. Bodies of core.
#pragma once

#include "heist/core/base/environment.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/fiber/overflow_report.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/core_trim.hpp"
#include "heist/core/scheduler/display.hpp"
#include "heist/core/scheduler/reduced_start.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

HEIST_COLD_BODY void core::reject_while_stopping() {
  throw executor_error{
      "the executor is being destroyed, and would not run what is given to it now (by the destructor of a thread_local "
      "object of a worker, or by a thread that outlives it); fix it by giving it before, or to another executor."};
}

inline constexpr std::size_t largest_stack = std::size_t{1} << 40;

HEIST_COLD_BODY std::size_t worker_count_for(std::size_t wanted, placement const& where) {
  if (wanted > max_workers) {
    throw executor_error{
        format_text("an executor with {} workers: heist allows 1 to {}. Fix it by asking for as many workers as there "
                    "are cores, or leave options::workers at 0 and get that.",
                    {wanted, max_workers})};
  }
  if (wanted != 0) return wanted;
  std::size_t const usable = where.usable_workers();
  return usable < max_workers ? usable : max_workers;
}

HEIST_COLD_BODY std::size_t stack_size_left_open() noexcept {
  return size_in_environment(variable::stack_size, largest_stack, std::size_t{1} << 20, true);
}
HEIST_COLD_BODY std::size_t max_fibers_left_open() noexcept {
  return size_in_environment(variable::max_fibers, most_fibers, 30'000);
}

/// More threads than any machine lets a process have.
inline constexpr std::size_t most_threads = std::size_t{1} << 20;

HEIST_COLD_BODY std::size_t thread_cap_for(options const& wanted, std::size_t workers) {
  if (wanted.max_threads > most_threads) {
    throw executor_error{format_text(
        "options::max_threads is {}: heist allows up to {}, more than any system has for one process. Fix it by the "
        "number of blocking calls at a time, and one for each worker; threads are made as they are needed.",
        {wanted.max_threads, most_threads})};
  }
  return wanted.max_threads < workers ? workers : wanted.max_threads;
}

/// Each fiber is a mapping, or two with a guard where the kernel has no better; it allows some 65000.
HEIST_COLD_BODY std::size_t fiber_cap_for(std::size_t wanted, std::size_t workers) {
  std::size_t most = wanted;
  if (most == 0) most = max_fibers_left_open() > workers ? max_fibers_left_open() : workers;
  if (most < workers) {
    throw executor_error{
        format_text("options::max_fibers is {}, and {} workers need one each at least. Fix it by a larger number, some "
                    "dozens for each worker, or more if many tasks wait at a time.",
                    {most, workers})};
  }
  if (most > most_fibers) {
    throw executor_error{format_text(
        "options::max_fibers is {}: heist allows up to {}, more than there is memory for. Fix it by the number of "
        "tasks that wait at a time, and some dozens for each worker; fibers are made as they are needed.",
        {most, most_fibers})};
  }
  return most;
}

HEIST_COLD_BODY void check_stack_size(char const* name, std::size_t bytes) {
  if (bytes <= largest_stack) return;
  throw executor_error{
      format_text("options::{} is {} bytes: heist allows up to {}, more than any machine has for one task. Fix it by "
                  "a smaller one, or leave it out and get the default.",
                  {name, bytes, largest_stack})};
}

HEIST_COLD_BODY std::size_t stack_size_for(std::size_t wanted) {
  constexpr std::size_t minimum = std::size_t{32} << 10;
  check_stack_size("stack_size", wanted);
  std::size_t const bytes = wanted != 0 ? wanted : stack_size_left_open();
  return bytes < minimum ? minimum : bytes;
}

/// 0: none is wanted.
HEIST_COLD_BODY std::size_t guard_size_for(options const& wanted) {
  if (!wanted.guard_pages) return 0;
  check_stack_size("guard_size", wanted.guard_size);
  return wanted.guard_size == 0 ? 1 : wanted.guard_size;  // in whole pages
}

/// For overflow_report: a signal handler calls it.
HEIST_COLD_BODY stack const* stack_of_this_thread() noexcept {
  worker* const w = this_worker();
  fiber* const f = w == nullptr ? nullptr : w->current.load(std::memory_order_relaxed);  // relaxed: its own
  return f == nullptr ? nullptr : &f->own_fiber_context().memory();
}

/// A worker whose join waits on it would keep its permit from the worker that it waits for.
HEIST_COLD_BODY thread_permits* limit_for(options const& wanted, join_strategy joins) {
  if (wanted.limit.get() != nullptr && joins != join_strategy::park) {
    throw executor_error{
        "options::limit is set, and the joins of this executor's policy keep their workers; fix it by a policy whose "
        "joins park (join::park, the default)."};
  }
  return wanted.limit.get();
}

HEIST_COLD_BODY core::core(attempt const& asked, policy_config config, loop_function loop, fiber_hook hook)
    : where{asked.options, config.examines_machine},
      worker_count{worker_count_for(asked.workers, where)},
      work{worker_count},
      on_fiber{hook},
      joins{config.joins},
      order{config.order},
      has_mail{config.has_mail},
      extension{config.make_extension(*this)},
      limit{limit_for(asked.options, config.joins)},
      loop_{loop},
      stack_size_{stack_size_for(asked.stack_size)},
      max_fibers_{fiber_cap_for(asked.max_fibers, worker_count)},
      guard_size_{guard_size_for(asked.options)},
      generation_{os_env::process()},
      max_threads_{thread_cap_for(asked.options, worker_count)},
      on_start_{asked.options.on_worker_start},
      on_stop_{asked.options.on_worker_stop},
      pinned_{pinned(asked.options) && where.machine().is_this_machine},
      thread_count_{worker_count} {
  os_env::watch_forks();
  where.place(asked.options, worker_count);
  os_env::prepare();
  if (guard_size_ != 0) overflow_report::install(&stack_of_this_thread);
  workers.reserve(worker_count);
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    std::size_t const bytes = (max_fibers_ + fork_stack::scratch) * sizeof(continuation_slot);
    workers.push_back(
        make_unique<worker>(*this, i, worker_count == 1, i + 1, freelist, stack::map(0, bytes, 0), max_fibers_));
  }
  if (extension != nullptr && extension->sleep != nullptr)
    outer_gate_ = extension->sleep->make_gates(*this, config.idle);
  if (outer_gate_ == nullptr) {
    gate_ = make_unique<idle_gate<>>(worker_count + (has_slot_for_helper() ? 1 : 0), config.idle);
    outer_gate_ = gate_.get();
    for (auto& w : workers) w->gate = outer_gate_;
    // Joins that keep their workers look for no requests, so all threads may wait for the one that has left.
    has_caller_place_ = asked.options.caller_is_worker && worker_count > 1 && joins == join_strategy::park &&
                        extension == nullptr && on_fiber == nullptr && has_slot_for_helper();
    thread_count_ = threaded_workers();
  }
}

HEIST_COLD_BODY void display::print_if_wanted() {
  if (!is_set_to(variable::display_env, "1", "0")) return;
  if (print != nullptr) return print();
  if (!is_first_to_say(message::no_display)) return;
  std::fputs(
      "heist: HEIST_DISPLAY_ENV is set, but nothing in this program can print it; fix it by linking heist::compiled, "
      "or by including heist/configuration.hpp in one of its files\n",
      stderr);
}

HEIST_COLD_BODY void core::start() {
  try {
    threads_.reserve(max_threads_);
    // All fibers before the first thread: thieves look at all workers' fibers.
    for (auto& w : workers) {
      fiber& first = acquire_fiber(*w);  // before the thread: its memory can be refused, too
      first.worker = w.get();
      w->current.store(&first, std::memory_order_relaxed);  // relaxed: starting the threads publishes it
    }
    if (limit != nullptr) joined_limit_ = limit->join(*this);
    for (auto& w : workers) {
      if (is_for_caller(*w)) {
        w->state.store(worker::vacant, std::memory_order_relaxed);  // relaxed: a hint
        w->slot.lend();
        break;
      }
      start_os_thread(w.get());
      ++started_;
    }
  } catch (std::system_error const& e) {
    std::size_t const started = started_, threads = threaded_workers();
    // The last worker needs no thread.
    std::size_t const possible = started == 0 ? 0 : started + (workers.size() - threads);
    drain_and_stop();
    std::string const text = format_text(
        "cannot start thread {} of {}: {}. Fix it by {}raising the limit on processes (ulimit -u, pids.max of the "
        "container) or on memory, of which a thread takes ulimit -s (ulimit -v, -d, -l).",
        {started + 1, threads, e.what(),
         started == 0 ? "" : format_text("asking for at most {} workers (options::workers), or by ", {possible})});
    throw thread_rejected{possible, workers.size(), text.c_str()};
  } catch (...) {
    drain_and_stop();
    throw;
  }
  enroll();
  say_what_is_unknown();
  display::print_if_wanted();
  watchdog_.start([this] { return look(); }, [this] { return state_text(); });
}

HEIST_COLD_BODY void core::stop_and_join() noexcept {
  watchdog_.stop();
  stop_.store(true, std::memory_order_release);  // release: pairs with stopping()
  outer_gate_->wake_all();
  if (joined_limit_ != nullptr) limit->stop(joined_limit_);
  release_os_threads();
  for (auto& t : threads_) t.join();
  threads_.clear();
}

HEIST_COLD_BODY void core::drain_and_stop() noexcept {
  if (os_env::process() != generation_) {
    // The threads exist in the parent only: nothing to wait for, nothing to join, and nothing to
    // free that they use.
    new vector<std::thread>{std::move(threads_)};
    watchdog_.forget();
    static_cast<void>(fibers_.release());
    static_cast<void>(os_threads_.release());
    return;
  }
  if (called_by_own_task()) {
    HEIST_FATAL(
        "an executor is destroyed by one of its own tasks, which it would have to wait for; "
        "fix it by destroying it outside, after the task");
  }
  // Tasks that threads submit when they start are run. acquire: carry()
  while (on_start_calls_.load(std::memory_order_acquire) != started_) os_env::yield();
  wait_for_all_work();
  work.close();
  wait_for_work();
  work.wait_for_visitors();
  stop_and_join();
}

HEIST_COLD_BODY void core::wait_idle() {
  check_process();
  if (called_by_own_task()) {
    throw executor_error{
        "wait_idle() inside a task of the same executor would wait for itself; fix it by waiting outside, or by "
        "waiting for the future of each task."};
  }
  wait_for_all_work();
}

/// Here, or where an extension has it done.
HEIST_COLD_BODY bool core::called_by_own_task() const noexcept {
  worker* const w = this_worker();
  remote_extension const* const others = remote_executors();
  return w != nullptr && (&w->scheduler == this || (others != nullptr && others->has_remote(*w)));
}

/// Here, and where an extension has work done.
HEIST_COLD_BODY void core::wait_for_all_work() {
  std::uint64_t seen = 0;
  remote_extension* const others = remote_executors();
  do wait_for_work();
  while (others != nullptr && others->wait_remote(seen));
}

HEIST_COLD_BODY void core::wait_for_work() {
  work_count<>::waiter me;
  if (!work.wait(me)) return;
  if (worker* const w = this_worker(); w != nullptr) {
    fiber& here = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    here.wait_for(me.over, {"all work of an executor"});        // it has to stay until it is told
    return;
  }
  wait_outside(me.over, {"all work of an executor"});
}

HEIST_COLD_BODY void core::reject_after_fork() {
  throw executor_error{
      "this process is a child made by fork(), and the executor's threads exist in its parent only; fix it by making "
      "the executor after fork()."};
}

}  // namespace heist::detail
