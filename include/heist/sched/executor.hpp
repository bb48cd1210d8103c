// The executor: workers for task graphs, asyncs and fork/join programs, with the policy as a template parameter.
#pragma once

#include <cstddef>  // size_t
#include <exception>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>  // forward, move
#include <vector>

#include "heist/observe/observer.hpp"
#include "heist/policy/policies.hpp"
#include "heist/policy/victim_watch.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/core_trim.hpp"
#include "heist/sched/future.hpp"
#include "heist/sched/options.hpp"
#include "heist/sched/worker_loop.hpp"

namespace heist {
namespace detail {

/// core with the parts that depend on the policy and the observer.
template <class Policy, class Observer>
class scheduler : public core {
 public:
  using idle_type = typename Policy::idle_type;
  using victim_type = typename Policy::victim_type;
  using observer_type = Observer;
  static constexpr bool has_tiers = Policy::tier_type::division != tiering::none;
  static constexpr bool gives = Policy::order_type::value == fork_order::recorded;

  template <class... ObserverArgs>
  explicit scheduler(options const& wanted, ObserverArgs&&... args)
      : core{wanted,
             {idle_rules::of<idle_type>(), Policy::join_type::strategy, Policy::order_type::value,
              Policy::tier_type::division, counters()},
             &worker_loop<scheduler>::run,
             hook()},
        observer_(std::forward<ObserverArgs>(args)...),
        decisions_(workers.size()) {
    on_task = task_teller();
    observer_.start(workers.size());
    place_victims();
    core::start(wanted);
  }

  idle_type& idle(worker const& w) noexcept { return decisions_[w.number].idle; }
  victim_type& victim(worker const& w) noexcept { return decisions_[w.number].victim; }
  /// For victims in the worker's own squad.
  victim_type& near_victim(worker const& w) noexcept requires has_tiers { return decisions_[w.number].near.victim; }
  /// Of victim(w), for debug builds.
  heist::victim::watch& watch(worker const& w) noexcept { return decisions_[w.number].watch; }
  Observer& observer() noexcept { return observer_; }

 private:
  struct near_decisions {
    [[no_unique_address]] victim_type victim;
  };
  struct no_decisions {};
  struct alignas(cache_line_size) decisions {
    [[no_unique_address]] idle_type idle;
    [[no_unique_address]] victim_type victim;
    [[no_unique_address]] std::conditional_t<has_tiers, near_decisions, no_decisions> near;
    heist::victim::watch watch;  // in all builds: they may be mixed in one program
  };

  /// Tells policies that ask where the workers are. Not those for victims in a squad.
  void place_victims() {
    if constexpr (heist::victim::placed_policy<victim_type>) {
      auto const count = static_cast<std::uint32_t>(decisions_.size());
      for (std::uint32_t i = 0; i != count; ++i)
        decisions_[i].victim.place({i, count}, where.machine(), where.squads());
    }
  }

  static counter_operations const* counters() noexcept {
    if constexpr (tier::measuring_tier<typename Policy::tier_type>) {
      return &counter_operations_of<typename Policy::tier_type::counter_type>;
    } else {
      return nullptr;
    }
  }

  static fiber_hook hook() noexcept {
    if constexpr (Observer::observes) {
      return [](core& self, worker& w, fiber const& f, fiber_event what) noexcept {
        Observer& observer = static_cast<scheduler&>(self).observer_;
        if (what == fiber_event::parks) observer.park(w.number, &f);
        if (what == fiber_event::goes_on) observer.resume(w.number, &f);
        if constexpr (squad_observer<Observer>) {
          if (what == fiber_event::enters) observer.inter_begin(w.number, w.in->number, f.bound(), f.bound()->level);
          if (what == fiber_event::leaves) observer.inter_end(w.number, w.in->number, f.bound());
          if (what == fiber_event::moves) observer.intra_begin(w.number, w.in->number, f.bound());
        }
        if constexpr (time_observer<Observer>) {
          if (what == fiber_event::waits) observer.search_begin(w.number, f.waiting_joins);
          if (what == fiber_event::tries) observer.attempt(w.number);
          if (what == fiber_event::takes) observer.success(w.number);
          if (what == fiber_event::takes || what == fiber_event::works || what == fiber_event::goes_on)
            observer.work_begin(w.number, f.waiting_joins);
        }
      };
    } else {
      return nullptr;
    }
  }

  static task_hook task_teller() noexcept {
    if constexpr (Observer::observes) {
      return [](core& self, worker& w, task_view const& task, bool begins) noexcept {
        Observer& observer = static_cast<scheduler&>(self).observer_;
        begins ? observer.task_begin(w.number, task) : observer.task_end(w.number, task);
      };
    } else {
      return nullptr;
    }
  }

  [[no_unique_address]] Observer observer_;
  std::vector<decisions> decisions_;
};

struct executor_access;

}  // namespace detail

/// A set of workers, each a thread, that run tasks until the executor is destroyed.
///
/// Threads  every member may be called by any thread, also from inside tasks unless it says otherwise.
/// Promises a task that is accepted runs exactly once; a worker that waits inside a task does other work meanwhile;
///          the destructor waits for all work, and must not be called by a task of this executor.
template <class Policy = policy::random, class Observer = null_observer>
class executor {
  static_assert(
      policy::executor_policy<Policy>,
      "heist: executor<Policy> needs a policy bundle with a victim_type, an idle_type, an order_type, a join_type "
      "and a tier_type; mend it by deriving from heist::policy::bundle<Victim, Idle>.");
  static_assert(
      heist::observer<Observer>,
      "heist: executor<Policy, Observer> needs an observer that models heist::observer; mend it by deriving from "
      "heist::null_observer and setting `observes` to true.");

 public:
  /// What its tasks get when they take a context as `auto`.
  using context_type = basic_context<typename Policy::order_type>;

  /// As many workers as CPUs that this process may use.
  executor() : executor{options{}} {}
  /// Throws executor_error for an impossible count or a thread that cannot be started, topology_error for squads that
  /// the machine does not have. `args` make the observer.
  template <class... ObserverArgs>
  explicit executor(options const& wanted, ObserverArgs&&... args)
      : scheduler_{wanted, std::forward<ObserverArgs>(args)...} {}
  explicit executor(std::size_t workers) : executor{options{.workers = workers}} {}

  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;
  ~executor() { scheduler_.drain_and_stop(); }

  std::size_t worker_count() const noexcept { return scheduler_.workers.size(); }
  std::size_t squad_count() const { return scheduler_.where.squads().members.size(); }
  topology::machine const& machine() const { return scheduler_.where.machine(); }
  /// To be read while no task runs, or as the observer allows.
  Observer& observer() noexcept { return scheduler_.observer(); }

  /// Starts `f()` or `f(context)`; its result, or exception, comes through the future.
  template <class F>
  auto submit(F&& f) {
    return detail_submit<context_type>(scheduler_, std::forward<F>(f));
  }
  /// As above. If stop is requested before the task starts it is skipped, and get() throws stopped_error; afterwards
  /// context::stop_requested() tells the task and all that it forks.
  template <class F>
  auto submit(std::stop_token token, F&& f) {
    return detail_submit<context_type>(scheduler_, std::forward<F>(f), std::move(token));
  }

  /// Starts `f()` or `f(context)` without a handle. The first exception of such tasks is kept for wait_idle().
  template <class F>
  void post(F&& f) {
    using task = detail::posted_task<context_type, std::decay_t<F>>;
    scheduler_.check_open();
    task* const made = task::make(scheduler_, std::forward<F>(f));
    try {
      detail::submit_async(scheduler_, *made);
    } catch (...) {
      detail::discard_pooled(made);
      throw;
    }
  }

  /// Runs `f()` or `f(context)` on a worker and returns its result, or rethrows its exception.
  template <class F>
  decltype(auto) sync_wait(F&& f) {
    return submit(std::forward<F>(f)).get();
  }
  /// As above; stopped as submit() says.
  template <class F>
  decltype(auto) sync_wait(std::stop_token token, F&& f) {
    return submit(std::move(token), std::forward<F>(f)).get();
  }

  /// Runs `f(context)` as one run of `r` (context::sync_wait). Throws region_error if `r` has a run already.
  template <class F>
  decltype(auto) sync_wait(region& r, F&& f) {
    return sync_wait([&](context_type c) -> decltype(auto) { return c.sync_wait(r, std::forward<F>(f)); });
  }

  /// Starts one run of a graph; `options` may be a std::stop_token and a callable to call when the run has ended.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) {
    return graph.start_run(scheduler_, std::size_t{1}, std::forward<Options>(options)...);
  }
  /// Starts `n` runs, one after the other, as one.
  template <class Graph, class... Options>
  auto run_n(Graph& graph, std::size_t n, Options&&... options) {
    return graph.start_run(scheduler_, n, std::forward<Options>(options)...);
  }
  /// Starts runs, one after the other, until `done()` says true after one of them.
  template <class Graph, class Predicate, class... Options>
  auto run_until(Graph& graph, Predicate&& done, Options&&... options) {
    return graph.start_run_until(scheduler_, std::forward<Predicate>(done), std::forward<Options>(options)...);
  }

  /// Returns when all work submitted before has ended, and all that it has submitted, whatever is submitted meanwhile;
  /// then rethrows the first exception that nobody has asked for: of a posted task, or of one whose future was
  /// dropped. A task of another executor parks, a thread outside blocks. Not
  /// to be called by a task of this executor: throws executor_error.
  void wait_idle() {
    scheduler_.wait_idle();
    if (std::exception_ptr e = scheduler_.unfetched().take()) std::rethrow_exception(std::move(e));
  }

  /// For people who look at a hang, approximate: one line per worker, and one for each parked task (at most 100) with
  /// what it waits for. With the environment variable HEIST_WATCHDOG=seconds an executor prints it on stderr by itself
  /// when no task has begun or ended for so long while something waits.
  std::string state_text() const { return scheduler_.state_text(); }

 private:
  friend struct detail::executor_access;
  detail::scheduler<Policy, Observer> scheduler_;
};

executor(options const&)->executor<>;
executor(std::size_t)->executor<>;

}  // namespace heist

// Bodies that need more than their class, with what declares it.
#if HEIST_HEADER_ONLY
#include "heist/sched/core_fibers.ipp"
#include "heist/sched/core_squads.ipp"
#include "heist/sched/core_start.ipp"
#include "heist/sched/make_way.ipp"
#include "heist/sched/state_text.ipp"
#include "heist/sched/wait_on_top.ipp"
#endif
