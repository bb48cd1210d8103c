// The runs of a program, one after another, and the nodes of graphs. Members of frames.
#pragma once

#include <cstdint>

#include "heist/sim/frames.hpp"
#include "heist/sim/inter_frames.hpp"

namespace heist::sim {

/// The task that runs the program's runs goes on on `w`.
inline void frames::begin_run(worker& w) {
  run const& r = program_.runs()[run_];
  if (r.nodes == 0 && follow_.active()) {
    if (follow_.body_worker() != w.number) {
      give(&w, follow_.body_worker(), {item::kind::next_run, none});
      return take_up(w);
    }
    follow_.begin_run();
  }
  if (notes_) notes_->begin_run(w.number);
  if (r.nodes != 0) {
    std::uint32_t first = none;
    for (std::uint32_t t = r.first; t != r.first + r.nodes; ++t) {
      tasks_[t] = {};
      tasks_[t].waits = program_.predecessors(t);
      if (tasks_[t].waits != 0) continue;
      if (first == none) {
        first = t;
      } else {
        push(w, {item::kind::node, t});
      }
    }
    nodes_left_ = r.nodes;
    return take_in_hand(w, {item::kind::node, first});
  }
  region_memory& region = region_of(r);
  region.plan(program_, r, facts_);
  tasks_[r.first] = {};
  if (follow_.active()) tasks_[r.first].place = following::root;
  if (region.how() == division::flat || region.how() == division::profiled)
    return begin(w, r.first, started::run, none);
  start_body(w, r.first);
  take_up(w);
}

/// A node has ended: one that it was the last to be waited for by runs next, others may be stolen.
inline void frames::end_node(worker& w, std::uint32_t t) {
  std::uint32_t next = none;
  for (std::uint32_t const after : program_.successors(t)) {
    if (--tasks_[after].waits != 0) continue;
    if (next == none) {
      next = after;
    } else {
      push(w, {item::kind::node, after});
    }
  }
  if (--nodes_left_ == 0) return end_run(w);
  if (next == none) return take_up(w);
  take_in_hand(w, {item::kind::node, next});
}

inline void frames::end_run(worker& w) {
  run const& r = program_.runs()[run_];
  if (r.nodes == 0) region_of(r).finish(program_, r, facts_);
  told_.run_times.push_back(now_ - run_began_);
  if (notes_) told_.trees.push_back(r.nodes == 0 ? notes_->finish_run() : steal_tree{});
  run_began_ = now_;
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
  spend(w, 0, activity::fork_join, step::use_hand);
}

}  // namespace heist::sim
