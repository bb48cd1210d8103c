// policy::automatic: what regions and graphs that run often are run with is found out by trying.
#pragma once

#include <utility>  // forward, move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/core/extension/search_of.hpp"
#include "heist/core/policy/policies.hpp"
#include "heist/locality/automatic/automatic_extension.hpp"
#include "heist/locality/automatic/others.hpp"
#include "heist/locality/policy/tier_policies.hpp"
#include "heist/locality/replay/mail_search.hpp"
#include "heist/locality/replay/recorded_places.hpp"
#include "heist/locality/squads/by_tier.hpp"
#include "heist/locality/squads/squad_search.hpp"

namespace heist {
namespace policy {

/// Random stealing that tries other policies. It runs each region and each graph now and then as under cab (with the
/// computed boundary level and its neighbours), cats, and replay in its modes. It keeps a way that is faster by more
/// than the noise, and tries again when times change. region::explain() and task_graph::explain() name the fastest way.
/// The trials cost less than about 3 % of 1000 runs, unless one trial takes more than six times the time of random.
///
/// Its own workers form squads (options::squads, errors as for cab), and regions are divided among these. Graphs with
/// squads, and replay, have one more executor each, with as many workers. It is made at the first trial, and sleeps
/// when it is not used. Overlapping runs of a graph, regions within regions, and runs that fail or are stopped are not
/// measured. The number that worker_id() returns is the one in the executor that runs the task. Two workers may have
/// the same number: use heist::per_worker for data of each worker. Tasks that take their context as `auto` get a
/// heist::context, so the same code runs on all executors. Observers and HEIST_TRACE see only the workers of this
/// executor.
struct automatic : bundle<victim::random, idle::standard, order::by_tier, join::park, tier::cats> {};

static_assert(executor_policy<automatic>);

}  // namespace policy

namespace detail {

template <class Policy>
class executor_of final : public other_executor {
 public:
  explicit executor_of(options const& wanted) : made_{wanted} {}
  core& scheduler() noexcept override { return executor_access::core_of(made_); }

 private:
  executor<Policy> made_;
};

/// Squads, and other executors beside them. Templates, so that no other executor's file compiles the others.
template <>
struct squad_extension_maker<policy::automatic> {
  static constexpr bool keeps_options = true;

  template <class Scheduler>
  static unique_ptr<executor_extension> make(core& scheduler, counter_operations const* counters, squad_hook hook) {
    return make_unique<automatic_extension>(scheduler, counters, hook, &make_other<Scheduler>);
  }
  static void keep_options(core& scheduler, options const& wanted) {
    options all = wanted;
    // The other executors are made on a worker, which may see one processor only.
    if (pinned(all) && !all.machine) all.machine = scheduler.where.machine();
    others_of(scheduler).keep(std::move(all), scheduler.worker_count);
  }

 private:
  template <class Scheduler>
  static unique_ptr<other_executor> make_other(other_policy which, options const& wanted) {
    if (which == other_policy::cab) return make_unique<executor_of<policy::cab>>(wanted);
    return make_unique<executor_of<policy::replay>>(wanted);
  }
};

template <>
struct context_of<policy::automatic> {
  using type = context;
};

}  // namespace detail
}  // namespace heist
