// Bodies of inter_frames.hpp.
#pragma once

#include "heist/tools/simulate/inter_frames.hpp"

#include "heist/locality/policy/path.hpp"

namespace heist::sim {

HEIST_BODY void frames::start_body(worker& w, std::uint32_t t) {
  region_memory& region = region_of(program_.runs()[run_]);
  inter_state& s = inter_[t] = {};
  s.entry = region_profile::root;
  s.leaf = region.is_leaf(1, s.entry);
  s.pool = region.scheduler(w.squad);
  tasks_[t].bound = t;
  squads_.add_pinned(s.pool, {item::kind::inter, t});
}

HEIST_BODY void frames::start_inter_children(worker& w, std::uint32_t t, stage const& now) {
  region_memory& region = region_of(program_.runs()[run_]);
  tasks_[t].waits = now.children;
  inter_[t].suspended = true;
  // The newest item of a pool is its head's next: so it continues with the first, in the order of the serial program.
  for (std::uint32_t c = now.first_child + now.children; c-- != now.first_child;) {
    std::uint32_t const index = program_.task_at(c).index;
    inter_state& child = inter_[c] = {};
    child.path = tier::path_of_child(inter_[t].path, index);
    child.entry = region.entry_of_child(inter_[t].entry, index);
    child.leaf = region.is_leaf(tasks_[c].depth + 1, child.entry);
    child.pool = region.squad_of(child.path, w.squad, info_.has_history_squads);
    tasks_[c].bound = c;
    squads_.add(child.pool, {item::kind::inter, c});
  }
  ++told_.parks;
  leave_squad(w, t);
  advance(w, draw(cost().park, w), activity::fork_join, step::take_up);
}

HEIST_BODY void frames::enter_squad(worker& w, std::uint32_t t) {
  inter_[t].squad = w.squad;
  inter_[t].suspended = false;
  if (recording_) recording_->placed(w.number, w.squad, t, tasks_[t].depth + 1, placement_kind::inter_begin);
}

HEIST_BODY void frames::begin_inter(worker& w, std::uint32_t t) {
  inter_state const& s = inter_[t];
  enter_squad(w, t);
  ++told_.inter_tasks;
  told_.inter_steals += s.pool != w.squad;
  region_of(program_.runs()[run_]).ran_in(s.path, w.squad);
  begin(w, t, started::inter, none);
}

HEIST_BODY void frames::end_inter(worker& w, std::uint32_t t) {
  leave_squad(w, t);
  std::uint32_t const parent = program_.task_at(t).parent;
  if (parent == none) return end_run(w);
  if (--tasks_[parent].waits == 0) make_ready(w, parent);
  take_up(w);
}

}  // namespace heist::sim
