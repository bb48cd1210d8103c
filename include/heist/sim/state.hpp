// All that a simulation knows at one moment, and how its time goes on.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // max, min
#include <cstddef>    // size_t
#include <cstdint>
#include <optional>
#include <utility>  // exchange, move
#include <vector>

#include "heist/policy/order.hpp"
#include "heist/policy/tier.hpp"
#include "heist/sim/division.hpp"
#include "heist/sim/event_queue.hpp"
#include "heist/sim/following.hpp"
#include "heist/sim/gate.hpp"
#include "heist/sim/memory.hpp"
#include "heist/sim/options.hpp"
#include "heist/sim/program.hpp"
#include "heist/sim/recording.hpp"
#include "heist/sim/report.hpp"
#include "heist/sim/series.hpp"
#include "heist/sim/sim_error.hpp"
#include "heist/sim/squad_pools.hpp"
#include "heist/sim/steal_notes.hpp"
#include "heist/sim/task_state.hpp"
#include "heist/sim/worker.hpp"
#include "heist/topology/machine.hpp"
#include "heist/topology/squads.hpp"

namespace heist::sim {

/// What of a policy is a value.
struct policy_values {
  fork_order order;
  join_strategy join;
  tiering tiers;
  idle_rules idle;
};

[[noreturn]] inline void refuse_workers(std::size_t n) {
  detail::fail("{} workers cannot be simulated; mend it by options::workers from 1 to {}", n, most_workers);
}

/// The machine of the options; if they name none, one core for each worker. Throws sim_error.
inline topology::machine machine_of(options const& wanted) {
  if (wanted.machine) return *wanted.machine;
  if (wanted.workers > most_workers) refuse_workers(wanted.workers);
  topology::machine m;
  m.pus.resize(wanted.workers == 0 ? 1 : wanted.workers);
  for (std::size_t i = 0; i != m.pus.size(); ++i) {
    m.pus[i].os_index = static_cast<std::uint32_t>(i);
    m.pus[i].core = static_cast<std::int32_t>(i);
    m.pus[i].numa = 0;
  }
  return m;
}

/// How many workers the options mean. Throws sim_error.
inline std::uint32_t workers_of(options const& wanted, topology::machine const& m) {
  std::size_t const n = wanted.workers != 0 ? wanted.workers : m.pu_count();
  if (n == 0 || n > most_workers) refuse_workers(n);
  return static_cast<std::uint32_t>(n);
}

class state {
 public:
  state(state const&) = delete;
  state& operator=(state const&) = delete;

 protected:
  struct waker {
    state* all;
    void operator()(std::uint32_t worker) const { all->wake(all->workers_[worker]); }
  };
  using gates_type = gates<waker>;

  state(program const& p, options const& wanted, policy_values policy)
      : program_{p},
        wanted_{wanted},
        policy_{policy},
        machine_{machine_of(wanted)},
        count_{workers_of(wanted, machine_)},
        placed_{wanted.squad_pus.empty() ? topology::make_squads(machine_, wanted.squads, count_)
                                         : topology::make_squads(machine_, wanted.squad_pus, count_)},
        sizes_{cache_sizes_of(wanted_, machine_, placed_)},
        memory_{program_,
                wanted_,
                sizes_,
                placed_.squad_of,
                placed_.members.size(),
                static_cast<std::uint32_t>(std::max<std::size_t>(1, machine_.numa_count())),
                nodes_of_workers(machine_, placed_)},
        gates_{has_tiers() ? placed_.members.size() : 1, policy.idle, waker{this}},
        squads_{placed_.members.size(), gates_},
        tasks_(p.task_count()),
        inter_(has_tiers() ? p.task_count() : 0),
        regions_(p.regions().size()),
        follow_{wanted_, count_},
        series_{wanted.samples} {
    if (policy.order == fork_order::recorded) notes_.emplace(count_);
    if (follow_.active() && !notes_)
      detail::fail("options::follow with a policy that forks in another order; mend it by heist::policy::replay");
    if (follow_.folded())
      told_.notes.push_back(fmt::format("followed without order: the tree is of {} workers, and there are {}",
                                        wanted.follow->worker_count(), count_));
    facts_ = {policy.tiers, placed_.members.size(), sizes_.of_squad, wanted.costs.clock, wanted.boundary_level};
    if (wanted.trace) recording_.emplace(count_);
    fast_random seeds{wanted.seed};
    workers_.reserve(count_);
    for (std::uint32_t i = 0; i != count_; ++i) {
      std::uint64_t const seed = seeds.next();
      workers_.emplace_back(seed, seeds.next());
      workers_.back().number = i;
      workers_.back().known = lru_cache{std::min(cost().familiar, count_)};
    }
    for (std::uint32_t s = 0; s != placed_.members.size(); ++s) {
      for (std::uint32_t place = 0; place != placed_.members[s].size(); ++place) {
        worker& w = workers_[placed_.members[s][place]];
        w.squad = s;
        w.place = place;
        w.head = w.number == placed_.head[s];
      }
    }
  }
  ~state() = default;

  bool has_tiers() const noexcept { return policy_.tiers != tiering::none; }
  std::uint32_t gate_of(worker const& w) const noexcept { return has_tiers() ? w.squad : 0; }
  costs const& cost() const noexcept { return wanted_.costs; }
  static ticks draw(duration d, worker& w) noexcept { return d.draw(w.cost_random); }

  /// From now on `w`, whose turn it is, does something for so long; then comes `next`.
  void spend(worker& w, ticks time, activity doing, step next) {
    w.overhead_part = std::exchange(w.owes, 0);
    w.doing = doing;
    w.next = next;
    due_ = now_ + time + w.overhead_part;
    goes_on_ = true;
  }
  /// The same for one that waits, at a certain time.
  void rouse(worker& w, ticks when, step next) {
    w.next = next;
    queue_.add(when, w.number);
  }

  /// Notes where the time since its last event has gone.
  void account(worker& w) noexcept {
    ticks all = now_ - w.since;
    ticks const overhead = std::min(all, std::exchange(w.overhead_part, 0));
    all -= overhead;
    ticks const waited = std::min(all, std::exchange(w.memory_part, 0));
    all -= waited;
    w.told.time.fork_join += overhead;
    w.told.time.memory += waited;
    share(w) += all;
    last_ = all;
    w.stretch = w.since;
    w.since = now_;
  }
  /// What has just been accounted as search was a steal.
  void was_steal(worker& w) noexcept {
    share(w) -= last_;
    w.told.time.steal += last_;
  }
  static ticks& share(worker& w) noexcept {
    time_split& t = w.told.time;
    switch (w.doing) {
      case activity::work:
        return t.work;
      case activity::fork_join:
        return t.fork_join;
      case activity::steal:
        return t.steal;
      case activity::search:
        return t.search;
      case activity::waiting:
        return t.waiting;
      case activity::asleep:
        break;
    }
    return t.asleep;
  }

  void reach(ticks time) {
    series_.reach(time, {now_, active_, count_ - active_ - asleep_, asleep_});
    now_ = time;
  }

  /// It has been notified.
  void wake(worker& w) {
    ++told_.wakes;
    if (acting_ != nullptr) acting_->owes += draw(cost().notify, *acting_);
    rouse(w, std::max(now_, w.since + draw(cost().sleep, w)) + draw(cost().wake, w), step::search);
  }

  // --- what everybody may take ---

  void push(worker& w, item i) {
    w.deque.push(i);
    ++open_;
    gates_.pushed(gate_of(w));
  }
  item pop(worker& w) noexcept {
    if (w.deque.empty()) return {};
    --open_;
    return w.deque.take_youngest();
  }
  void submit(item i) {
    master_.push(i);
    ++open_;
    gates_.submitted(0);
  }
  item take_submitted() noexcept {
    if (master_.empty()) return {};
    --open_;
    return master_.take_oldest();
  }

  /// At the end, once.
  report finish() {
    for (worker& w : workers_) {
      account(w);
      told_.steals += w.told.steals;
      told_.attempts += w.told.attempts;
      told_.looks += w.told.looks;
      told_.sleeps += w.told.sleeps;
      told_.tasks += w.told.tasks;
      told_.donations += w.told.donations;
      told_.time += w.told.time;
      told_.cache += w.told.cache;
      told_.per_worker.push_back(w.told);
    }
    told_.cache_of_squad.resize(placed_.members.size());
    for (worker const& w : workers_) told_.cache_of_squad[w.squad] += w.told.cache;
    told_.program = program_.name();
    told_.workers = count_;
    told_.squads = static_cast<std::uint32_t>(placed_.members.size());
    told_.seed = wanted_.seed;
    told_.makespan = now_;
    told_.t1 = program_.work();
    told_.t_inf = program_.span();
    told_.series_interval = series_.interval();
    told_.series = series_.take();
    for (region_memory const& r : regions_)
      if (!r.note().empty()) told_.notes.push_back(r.note());
    told_.homes = memory_.homes();
    told_.recording = std::move(recording_);
    return std::move(told_);
  }

  region_memory& region_of(run const& r) noexcept { return r.region == none ? no_region_ : regions_[r.region]; }

  program const& program_;
  options const wanted_;
  policy_values const policy_;
  topology::machine const machine_;
  std::uint32_t const count_;
  topology::squads const placed_;
  cache_sizes const sizes_;
  memory memory_;
  gates_type gates_;
  squad_pools<gates_type> squads_;
  std::vector<worker> workers_;
  std::vector<task_state> tasks_;
  std::vector<inter_state> inter_;
  std::vector<region_memory> regions_;
  region_memory no_region_;
  division_facts facts_;
  pool<item> master_;
  following follow_;
  std::optional<steal_notes> notes_;  ///< where the policy's order is recorded

  event_queue queue_;
  ticks now_ = 0;
  worker* acting_ = nullptr;  ///< whose turn it is
  bool goes_on_ = false;      ///< spend() has been called in this turn
  ticks due_ = 0;             ///< when it is this worker's turn again
  ticks last_ = 0;            ///< accounted last
  std::uint64_t open_ = 0;    ///< things that every worker may take
  std::uint64_t frames_ = 0;  ///< continuations that can be stolen
  std::uint32_t active_ = 0, asleep_ = 0;

  std::size_t run_ = 0;  ///< that runs
  ticks run_began_ = 0;
  std::uint32_t nodes_left_ = 0;  ///< of a graph, that have not ended
  bool finished_ = false;
  series series_;
  report told_;
  std::optional<recording> recording_;
};

}  // namespace heist::sim
