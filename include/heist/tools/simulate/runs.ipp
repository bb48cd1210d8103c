// Bodies of runs.hpp.
#pragma once

#include "heist/tools/simulate/runs.hpp"

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

namespace heist::sim {

HEIST_BODY void frames::begin_run(worker& w) {
  run const& r = program_.runs()[run_];
  if (follow_.active() && !begin_following(w, r)) return;
  if (steal_recorder_) steal_recorder_->begin_run(w.number);
  if (r.nodes != 0) {
    for (std::uint32_t t = r.first; t != r.first + r.nodes; ++t) {
      tasks_[t] = {};
      tasks_[t].waits = program_.predecessors(t);
    }
    auto const sources = nodes_.sources(r);
    nodes_left_ = r.nodes;
    return push_but_first(w, sources);
  }
  region_memory& region = region_of(r);
  region.plan(program_, r, info_);
  profiles_ = region.how() == division::profiled;
  tasks_[r.first] = {};
  if (region.how() == division::flat || region.how() == division::profiled)
    return begin(w, r.first, started::run, none);
  start_body(w, r.first);
  take_up(w);
}

/// The worker takes the first of `ready` in hand; the other nodes wait behind it in this order. If `ready` is empty,
/// the worker looks into its own pools.
HEIST_BODY void frames::push_but_first(worker& w, std::vector<std::uint32_t> const& ready) {
  for (std::size_t i = ready.size(); i-- != 0;) {
    nodes_.pushed(ready[i], w.number);
    if (i != 0) push(w, {item::kind::node, ready[i]});
  }
  if (ready.empty()) return take_up(w);
  take_in_hand(w, {item::kind::node, ready[0]});
}

HEIST_BODY void frames::end_node(worker& w, std::uint32_t t) {
  std::vector<std::uint32_t> ready;
  for (std::uint32_t const after : nodes_.successors(t)) {
    if (--tasks_[after].waits == 0) ready.push_back(after);
  }
  if (--nodes_left_ == 0) return end_run(w);
  push_but_first(w, ready);
}

HEIST_BODY void frames::end_run(worker& w) {
  run const& r = program_.runs()[run_];
  if (r.nodes == 0) region_of(r).finish(program_, r, info_);
  profiles_ = false;
  told_.run_times.push_back(now_ - run_start_time_);
  if (steal_recorder_) told_.trees.push_back(r.nodes == 0 ? steal_recorder_->finish_run() : steal_tree{});
  run_start_time_ = now_;
  if (++run_ == program_.runs().size()) {
    finished_ = true;
    return;
  }
  if (wanted_.entry == entry::outside) {
    queue_.add(now_ + cost().submit.draw(w.cost_random), count_);
    return take_up(w);
  }
  item const next{item::kind::next_run, none};
  if (tasks_[r.first].how == started::inter) {  // the task that entered the region has waited for it
    push(w, next);
    return take_up(w);
  }
  w.in_hand = next;
  advance(w, 0, activity::fork_join, step::use_hand);
}

}  // namespace heist::sim
