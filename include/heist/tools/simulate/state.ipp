// Bodies of state.hpp.
#pragma once

#include "heist/tools/simulate/state.hpp"

#include "heist/locality/policy/first_squad.hpp"
#include "heist/tools/simulate/fail.hpp"

#include <fmt/core.h>

#include <algorithm>  // max, min
#include <utility>    // exchange, move

namespace heist::sim {

[[noreturn]] HEIST_COLD_BODY void reject_workers(std::size_t n) {
  detail::fail("{} workers cannot be simulated; fix it by options::workers from 1 to {}", n, most_workers);
}

HEIST_BODY topology::machine machine_of(options const& wanted) {
  if (wanted.machine) return *wanted.machine;
  if (wanted.workers > most_workers) reject_workers(wanted.workers);
  topology::machine m;
  m.pus.resize(wanted.workers == 0 ? 1 : wanted.workers);
  for (std::size_t i = 0; i != m.pus.size(); ++i) {
    m.pus[i].os_index = static_cast<std::uint32_t>(i);
    m.pus[i].core = static_cast<std::int32_t>(i);
    m.pus[i].numa = 0;
  }
  return m;
}

HEIST_BODY std::uint32_t workers_of(options const& wanted, topology::machine const& m) {
  std::size_t const n = wanted.workers != 0 ? wanted.workers : m.pu_count();
  if (n == 0 || n > most_workers) reject_workers(n);
  return static_cast<std::uint32_t>(n);
}

HEIST_BODY topology::squads squads_of(options const& wanted, topology::machine const& m, std::size_t workers) {
  return wanted.squad_pus.empty() ? topology::make_squads(m, wanted.squads, workers)
                                  : topology::make_squads(m, wanted.squad_pus, workers);
}

HEIST_BODY state::state(program const& p, options const& wanted, policy_values policy)
    : program_{p},
      wanted_{wanted},
      policy_{policy},
      machine_{machine_of(wanted)},
      count_{workers_of(wanted, machine_)},
      placed_{squads_of(wanted, machine_, count_)},
      sizes_{cache_sizes_of(wanted_, machine_, placed_)},
      memory_{program_,
              wanted_,
              sizes_,
              placed_.squad_of,
              placed_.members.size(),
              static_cast<std::uint32_t>(std::max<std::size_t>(1, machine_.numa_count())),
              nodes_of_workers(machine_, placed_)},
      nodes_{program_, wanted.nodes, count_},
      gates_{has_tiers() ? placed_.members.size() : 1, policy.idle, waker{this}},
      squads_{placed_.members.size(), gates_},
      tasks_(p.task_count()),
      inter_(has_tiers() ? p.task_count() : 0),
      regions_(p.regions().size()),
      follow_{wanted_, count_, p.task_count()},
      series_{wanted.samples} {
  if (policy.order == fork_order::recorded) steal_recorder_.emplace(count_);
  if (follow_.active() && !steal_recorder_)
    detail::fail("options::follow with a policy that forks in another order; fix it by heist::policy::replay");
  if (follow_.folded())
    told_.notes.push_back(fmt::format("followed without order: the tree is of {} workers, and there are {}",
                                      wanted.follow->worker_count(), count_));
  info_ = {policy.tiers,
           placed_.members.size(),
           sizes_.of_squad,
           wanted.costs.clock,
           wanted.boundary_level,
           policy.has_history_squads,
           wanted.numa.pages != page_placement::ignored && tier::on_several_nodes(machine_, placed_)};
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

HEIST_BODY void state::advance(worker& w, ticks time, activity what, step next) {
  w.overhead_part = std::exchange(w.owes, 0);
  w.current_activity = what;
  w.next = next;
  due_ = now_ + time + w.overhead_part;
  has_next_step_ = true;
}

HEIST_BODY void state::account(worker& w) noexcept {
  ticks all = now_ - w.since;
  ticks const overhead = std::min(all, std::exchange(w.overhead_part, 0));
  all -= overhead;
  ticks const memory_wait = std::min(all, std::exchange(w.memory_part, 0));
  all -= memory_wait;
  w.told.time.fork_join += overhead;
  w.told.time.memory += memory_wait;
  share(w) += all;
  last_ = all;
  w.subrange = w.since;
  w.since = now_;
}

HEIST_BODY ticks& state::share(worker& w) noexcept {
  time_split& t = w.told.time;
  switch (w.current_activity) {
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

HEIST_BODY void state::wake(worker& w) {
  ++told_.wakes;
  if (acting_ != nullptr) acting_->owes += draw(cost().notify, *acting_);
  rouse(w, std::max(now_, w.since + draw(cost().sleep, w)) + draw(cost().wake, w), step::search);
}

HEIST_BODY void state::push(worker& w, item i) {
  w.deque.push(i);
  ++open_;
  gates_.pushed(gate_of(w));
}

HEIST_BODY item state::pop(worker& w) noexcept {
  if (w.deque.empty()) return {};
  --open_;
  return w.deque.pop_back();
}

HEIST_BODY void state::submit(item i) {
  master_.push(i);
  ++open_;
  gates_.submitted(0);
}

HEIST_BODY item state::take_submitted() noexcept {
  if (master_.empty()) return {};
  --open_;
  return master_.pop_front();
}

HEIST_BODY report state::finish() {
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
    if (!r.explain().empty()) told_.notes.push_back(r.explain());
  told_.node_map = memory_.node_map();
  told_.recording = std::move(recording_);
  return std::move(told_);
}

}  // namespace heist::sim
