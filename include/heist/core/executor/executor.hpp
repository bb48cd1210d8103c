// The executor: workers for task graphs, asyncs and fork/join programs, with the policy as a template parameter.
#pragma once

#include <cstddef>  // size_t
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/core/base/vector.hpp"
#include "heist/core/executor/blocking.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/future.hpp"
#include "heist/core/executor/helper.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/core/executor/with.hpp"
#include "heist/core/extension/search_of.hpp"
#include "heist/core/observe/environment_trace.hpp"
#include "heist/core/observe/observer.hpp"
#include "heist/core/policy/options.hpp"
#include "heist/core/policy/policies.hpp"
#include "heist/core/policy/victim_watch.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/core_trim.hpp"
#include "heist/core/scheduler/reduced_start.hpp"
#include "heist/core/scheduler/wait.hpp"
#include "heist/core/scheduler/worker_loop.hpp"
#include "heist/fwd.hpp"

namespace heist {
namespace detail {

/// core with the parts that depend on the policy and the observer.
template <class Policy, class Observer>
class scheduler : public core {
 public:
  using idle_type = typename Policy::idle_type;
  using victim_type = typename Policy::victim_type;
  using observer_type = Observer;
  using search_type = typename search_of<Policy>::type;

  template <class... ObserverArgs>
  explicit scheduler(attempt const& wanted, ObserverArgs&&... args)
      : scheduler{wanted_trace(), wanted, std::forward<ObserverArgs>(args)...} {}

  idle_type& idle(worker const& w) noexcept { return decisions_[w.number].idle; }
  victim_type& victim(worker const& w) noexcept { return decisions_[w.number].victim; }
  auto& of_search(worker const& w) noexcept { return decisions_[w.number].of_search; }
  /// Of victim(w), for debug builds.
  heist::victim::watch& watch(worker const& w) noexcept { return decisions_[w.number].watch; }
  template <class Seen = Observer>
  Seen& observer() noexcept {
    if constexpr (std::is_same_v<Seen, Observer>) {
      return observer_;
    } else if constexpr (std::is_same_v<Seen, optional_trace>) {
      return trace_;
    } else {
      return *trace_;
    }
  }
  /// To be called once the workers have stopped: writes the trace that the environment asks for.
  void write_trace() noexcept {
    static constexpr std::string_view policy = heist::victim::name_of<Policy>();
    if (trace_ && generation() == os_env::process()) trace_->write(where.squads().squad_of, policy);
  }

 private:
  /// Decided once, here.
  template <class... ObserverArgs>
  explicit scheduler(optional_trace trace, attempt const& wanted, ObserverArgs&&... args)
      : core{wanted,
             {idle_config::of<idle_type>(), Policy::join_type::strategy, Policy::order_type::value,
              search_type::examines_machine, search_type::has_mail, &search_type::template make<scheduler>},
             &loop_type::run,
             trace ? hook<traced_observer>() : hook<Observer>()},
        observer_(std::forward<ObserverArgs>(args)...),
        decisions_(workers.size()),
        trace_(std::move(trace)) {
    on_task = trace_ ? task_teller<traced_observer>() : task_teller<Observer>();
    if (trace_) {
      on_graph = trace_->edges();
      trace_->start(workers.size());
    }
    if constexpr (edge_observer<Observer>) on_graph = observer_.listener();
    if constexpr (search_type::keeps_options) search_type::keep_options(*this, wanted.options);
    observer_.start(workers.size());
    place_victims();
    core::start();
  }

  /// False where the program has an observer of its own.
  static constexpr bool is_traced = !Observer::observes;
  using traced_observer = std::conditional_t<is_traced, environment_trace, Observer>;
  static optional_trace wanted_trace() noexcept { return is_traced ? environment_trace::wanted() : nullptr; }

  /// One loop, which tests whether there is a trace. A second one would have to be compiled wherever an executor is named.
  using loop_type = worker_loop<scheduler, std::conditional_t<is_traced, optional_trace, Observer>>;

  struct alignas(cache_line_size) decisions {
    [[no_unique_address]] idle_type idle;
    [[no_unique_address]] victim_type victim;
    [[no_unique_address]] typename search_type::template per_worker<victim_type> of_search;
    heist::victim::watch watch;  // in all builds: they may be mixed in one program
  };

  /// Tells a victim policy the workers' places, if it asks for them. Policies for victims in a squad are not told.
  void place_victims() {
    if constexpr (heist::victim::placed_policy<victim_type>) {
      auto const count = static_cast<std::uint32_t>(decisions_.size());
      for (std::uint32_t i = 0; i != count; ++i)
        decisions_[i].victim.place({i, count}, where.machine(), where.squads());
    }
  }

  template <class Seen>
  static fiber_hook hook() noexcept {
    if constexpr (Seen::observes) {
      return [](core& self, worker& w, fiber const& f, fiber_event what) noexcept {
        Seen& observer = static_cast<scheduler&>(self).template observer<Seen>();
        if (what == fiber_event::parks) tell_park(observer, w.number, &f, f.note.view());
        if (what == fiber_event::resumes) observer.resume(w.number, &f);
        if constexpr (time_observer<Seen>) {
          if (what == fiber_event::waits) observer.search_begin(w.number, f.waiting_joins);
          if (what == fiber_event::tries) observer.attempt(w.number);
          if (what == fiber_event::takes) observer.success(w.number);
          if (what == fiber_event::takes || what == fiber_event::works || what == fiber_event::resumes)
            observer.work_begin(w.number, f.waiting_joins);
        }
      };
    } else {
      return nullptr;
    }
  }

  template <class Seen>
  static task_hook task_teller() noexcept {
    if constexpr (Seen::observes) {
      return [](core& self, worker& w, task_view const& task, core::task_event what) noexcept {
        Seen& observer = static_cast<scheduler&>(self).template observer<Seen>();
        if (what == core::task_event::begins) observer.task_begin(w.number, task);
        if (what == core::task_event::ends) observer.task_end(w.number, task);
        if constexpr (module_observer<Seen>) {
          if (what == core::task_event::module_ends) observer.module_end(w.number, task);
        }
      };
    } else {
      return nullptr;
    }
  }

  [[no_unique_address]] Observer observer_;
  vector<decisions> decisions_;
  optional_trace trace_;
};

struct executor_access;

}  // namespace detail

namespace detail {

template <class T>
inline constexpr bool is_defined = requires {
  sizeof(T);
};
/// Another policy where a sentence has been said of this one, so that it is the only one.
template <class Policy>
using policy_or_any = std::conditional_t<policy::executor_policy<Policy>, Policy, policy::random>;

}  // namespace detail

/// A set of workers, each a thread, that run tasks until the executor is destroyed.
///
/// Threads  every member may be called by any thread, also from inside tasks unless it says otherwise.
/// Promises an accepted task runs exactly once. A worker runs other tasks while one of its tasks waits. The
///          destructor waits for all tasks; no task of this executor may call it.
template <class Policy, class Observer>
class executor {
  static_assert(
      detail::is_defined<Policy>,
      "heist: executor<Policy> knows nothing of this policy but its name; fix it by #include <heist/locality.hpp>, "
      "or <heist/tiers.hpp> for policy::cab and policy::cats, <heist/automatic.hpp> for policy::automatic.");
  static_assert(
      !detail::is_defined<Policy> || policy::executor_policy<Policy>,
      "heist: executor<Policy> needs a policy bundle with a victim_type, an idle_type, an order_type, a join_type "
      "and a tier_type; fix it by deriving from heist::policy::bundle<Victim, Idle>.");
  static_assert(
      heist::observer<Observer>,
      "heist: executor<Policy, Observer> needs an observer that models heist::observer; fix it by deriving from "
      "heist::null_observer and setting `observes` to true.");

 public:
  /// The context of tasks that take it as `auto`.
  using context_type = typename detail::context_of<detail::policy_or_any<Policy>>::type;

  // --- Make and destroy ---

  /// As many workers as CPUs that this process may use.
  executor() : executor{options{}} {}
  /// Throws executor_error for an impossible count or a thread that cannot be started, stack_error without memory,
  /// topology_error for squads that the machine does not have. `args` make the observer. Options left open mean as much
  /// as the system allows (docs/limits.md), if there are no `args`.
  template <class... ObserverArgs>
  explicit executor(options const& wanted, ObserverArgs&&... args)
      : scheduler_{made(wanted, std::forward<ObserverArgs>(args)...)} {}
  explicit executor(std::size_t workers) : executor{options{.workers = workers}} {}

  executor(executor const&) = delete;
  executor& operator=(executor const&) = delete;
  ~executor() {
    scheduler_.drain_and_stop();
    scheduler_.write_trace();
  }

  // --- What it is ---

  std::size_t worker_count() const noexcept { return scheduler_.workers.size(); }
  /// The number of workers that sleep now, without work: a snapshot.
  std::size_t sleeping_workers() const noexcept { return scheduler_.sleeping_workers(); }
  /// The first call examines the machine, unless the options or the policy have needed it: 4 to 25 ms. The result is
  /// the part of the machine that the calling thread may use.
  std::size_t squad_count() const { return scheduler_.where.squads().members.size(); }
  topology::machine const& machine() const { return scheduler_.where.machine(); }
  /// To be read while no task runs, or as the observer allows.
  Observer& observer() noexcept { return scheduler_.observer(); }

  // --- Tasks ---

  /// Starts `f()` or `f(context)` and returns the future of its result or exception. If a task calls this, a stop of
  /// its run also stops `f` while a task of the run waits for the future.
  template <class F>
  auto submit(F&& f) {
    if constexpr (detail::accepted<detail::as_task<context_type, F>>()) {
      return detail::submit_task<context_type>(scheduler_, std::forward<F>(f));
    } else {
      return detail::rejected_handle<future>{};
    }
  }
  /// Starts a task with options: heist::after(futures...) and heist::with{...}, in any order. The callable is the last
  /// argument. If the token of heist::with{.stop = token} is stopped before the task starts, the task is skipped, and
  /// get() throws stopped_error. If it is stopped later, context::stop_requested() becomes true in the task and in all
  /// its children. heist::after needs heist/async.hpp.
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) auto submit(How&& how, Next&& next, More&&... more) {
    return detail::submit_with<context_type>(scheduler_, std::forward<How>(how), std::forward<Next>(next),
                                             std::forward<More>(more)...);
  }

  template <class... Any>
  detail::rejected async(Any&&...) {
    static_assert(sizeof...(Any) > 1000,
                  "heist: an executor has no async(); fix it by submit(f), which returns a future, or post(f), which "
                  "returns nothing.");
    return {};
  }

  /// Starts `f()` or `f(context)` without a handle. The first exception of such tasks is kept for wait_idle().
  template <class F>
  void post(F&& f) {
    if constexpr (detail::accepted<detail::as_child<context_type, F>>())
      detail::post_to<context_type>(scheduler_, std::forward<F>(f));
  }
  /// The same with the options of submit().
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) void post(How&& how, Next&& next, More&&... more) {
    static_cast<void>(submit(std::forward<How>(how), std::forward<Next>(next), std::forward<More>(more)...));
  }

  /// Runs `f()` or `f(context)` on a worker and returns its result, or rethrows its exception. It always waits until
  /// `f` has ended, also if a calling task has no stack left for its worker (options::max_fibers).
  template <class F>
  decltype(auto) invoke(F&& f) {
    if constexpr (detail::accepted<detail::as_task<context_type, F>>()) {
      return detail::future_access::take_at_the_end(detail::submit_task<context_type>(scheduler_, std::forward<F>(f)));
    } else {
      return detail::rejected{};
    }
  }
  /// The same with the options of submit().
  template <class How, class Next, class... More>
  requires(detail::have_submit_option<How, Next, More...>) decltype(auto)
      invoke(How&& how, Next&& next, More&&... more) {
    return detail::future_access::take_at_the_end(
        submit(std::forward<How>(how), std::forward<Next>(next), std::forward<More>(more)...));
  }

  /// Calls `f()` on the calling thread, or runs `f(context)` on it as a task.
  ///
  /// `f()` needs no worker, so the call does not wait for busy workers. It is not a task: it has neither a worker's
  /// memory (per_worker) nor the executor's stack.
  ///
  /// For `f(context)` the thread takes the place of a sleeping worker until `f` has ended. It runs other tasks while
  /// `f` waits. A short `f` wakes no worker. In these cases the call is invoke(): inside a task, if no worker
  /// sleeps, if another thread has taken such a place, under policies with tiers or recordings, and with observers.
  template <class F>
  decltype(auto) run_here(F&& f) {
    if constexpr (detail::accepted<detail::as_task<context_type, F>>()) {
      return detail::run_here_on<context_type>(scheduler_, std::forward<F>(f));
    } else {
      return detail::rejected{};
    }
  }
  /// The same with heist::with{...}. If its token is stopped before the call, `f` is not called, and the call throws
  /// stopped_error. Throws executor_error for a priority, a worker or `fifo`: the call waits in no queue.
  template <class How, class F>
  requires(detail::have_submit_option<How>) decltype(auto) run_here(How&& how, F&& f) {
    return detail::run_here_with<context_type>(scheduler_, std::forward<How>(how), std::forward<F>(f));
  }

  /// Runs `f(context)` as one run of `r` (context::invoke). Throws region_error if `r` has a run already.
  template <class F>
  decltype(auto) invoke(region& r, F&& f) {
    if constexpr (detail::accepted<detail::as_called<context_type, F>>()) {
      return invoke([&](context_type c) -> decltype(auto) { return c.invoke(r, std::forward<F>(f)); });
    } else {
      return detail::rejected{};
    }
  }

  // --- Runs of graphs, pipelines and parts ---

  /// Starts one run of a graph. `options` may be a heist::with{...}, and a callable that is called when the run has
  /// ended. The priority of heist::with is that of the run's start. An urgent run begins when a task ends, before other
  /// waiting runs and tasks. A run of low priority begins when there is no other work, and now and then earlier. Throws
  /// graph_error if heist::with names a worker.
  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) {
    return detail::start_access::run(graph, scheduler_, std::size_t{1}, std::forward<Options>(options)...);
  }
  /// Starts `n` runs, one after the other, with one handle.
  template <class Graph, class... Options>
  auto run_n(Graph& graph, std::size_t n, Options&&... options) {
    return detail::start_access::run(graph, scheduler_, n, std::forward<Options>(options)...);
  }
  /// Starts runs, one after the other, until `done()` returns true after one of them.
  template <class Graph, class Predicate, class... Options>
  auto run_until(Graph& graph, Predicate&& done, Options&&... options) {
    return detail::start_access::run_until(graph, scheduler_, std::forward<Predicate>(done),
                                           std::forward<Options>(options)...);
  }

  // --- Wait and look ---

  /// Waits for all tasks that were submitted before the call, and for the tasks that these submit. It does not wait
  /// for later submissions. Then it rethrows the first exception that no get() has taken: of a posted task, or of a
  /// task whose future was dropped. A task of another executor parks, a thread outside blocks. Throws executor_error
  /// in a task of this executor.
  void wait_idle() {
    scheduler_.wait_idle();
    if (std::exception_ptr e = scheduler_.unobserved().take()) std::rethrow_exception(std::move(e));
  }

  /// Describes the executor for a user that looks for a hang; a snapshot. It has a line for each worker, each parked
  /// task (at most 100) and each waiting thread outside, with the object that it waits for and the time. With
  /// HEIST_WATCHDOG=seconds in the environment, an executor prints the text on stderr when no task has begun or ended
  /// for so long while a task or thread waits.
  std::string state_text() const { return scheduler_.state_text(); }

 private:
  friend struct detail::executor_access;
  using scheduler_type = detail::scheduler<detail::policy_or_any<Policy>, Observer>;
  template <class... ObserverArgs>
  static scheduler_type made(options const& wanted, ObserverArgs&&... args) {
    if constexpr (sizeof...(ObserverArgs) != 0) {
      // They can be used once.
      return scheduler_type{detail::attempt{wanted}, std::forward<ObserverArgs>(args)...};
    } else {
      for (detail::attempt each{wanted};;) {
        try {
          return scheduler_type{each};
        } catch (std::exception const& why) {
          each.ask_for_less(why);
        }
      }
    }
  }
  scheduler_type scheduler_;
};

/// For extensions that need more than an executor's public members.
struct detail::executor_access {
  template <class Policy, class Observer>
  static core& core_of(executor<Policy, Observer>& ex) noexcept {
    return ex.scheduler_;
  }
  template <class Handle>
  requires requires(Handle const& h) { *h.scheduler_; }
  static core& core_of(Handle const& any) noexcept { return *any.scheduler_; }
};

executor(options const&)->executor<>;
executor(std::size_t)->executor<>;

}  // namespace heist
