// Bodies of frames.hpp.
#pragma once

#include "heist/tools/simulate/frames.hpp"

#include <algorithm>  // max

namespace heist::sim {

HEIST_BODY void frames::begin(worker& w, std::uint32_t t, started how, std::uint32_t caller) {
  task_state& s = tasks_[t];
  s.how = how;
  s.caller = caller;
  s.stage = 0;
  begin_stage(w, t);
}

HEIST_BODY void frames::begin_stage(worker& w, std::uint32_t t) {
  stage const& now = program_.stage_at(t, tasks_[t].stage);
  ticks waits = 0;
  for (std::uint32_t i = 0; i != now.touches; ++i)
    waits += memory_.access(w.number, now.first_touch + i, w.told.cache, w.cost_random);
  if (now.touches != 0) waits = memory_.waiting_time(w.number, now_, waits);
  if (profiles_) region_of(program_.runs()[run_]).profiled_in(t, program_.runs()[run_], w.squad);
  w.task = t;
  if (now.work + waits == 0 && now.children == 0) return next_stage(w, t);
  w.memory_part = waits;
  advance(w, now.work + waits, activity::work, step::end_work);
}

HEIST_BODY void frames::end_work(worker& w) {
  stage const& now = program_.stage_at(w.task, tasks_[w.task].stage);
  if (recording_ && now_ != w.subrange) recording_->worked(w.number, w.task, w.subrange, now_);
  if (now.children == 0) return next_stage(w, w.task);
  fork(w, w.task, now);
}

HEIST_BODY void frames::end(worker& w, std::uint32_t t) {
  task_state& s = tasks_[t];
  s.done = true;
  ++w.told.tasks;
  follow_.ended(t, told_by(&w));
  switch (s.how) {
    case started::called:
      w.returns_to = s.caller;
      return;
    case started::stolen:
      ended_for(w, t);
      if (s.caller == none) return take_up(w);
      w.task = s.caller;  // which waits, below it
      return wait_for_thief(w);
    case started::child_called:
      if (!s.continuation_stolen) {
        w.continuations.pop_back();
        --frames_;
        w.returns_to = s.caller;
        return;
      }
      follow_.turn(w.number, told_by(&w));
      ended_for(w, t);
      return take_up(w);
    case started::inter:
      return end_inter(w, t);
    case started::node:
      return end_node(w, t);
    case started::run:
    case started::not_yet:
      break;
  }
  end_run(w);
}

HEIST_BODY void frames::ended_for(worker& w, std::uint32_t child) {
  std::uint32_t const parent = program_.task_at(child).parent;
  if (tasks_[parent].awaits != child) return;
  tasks_[parent].awaits = none;
  if (follow_.is_special(parent)) {
    stage const& now = program_.stage_at(parent, tasks_[parent].stage);
    if (children_done(tasks_[parent], now)) return make_followed_ready(w, parent);
    tasks_[parent].awaits = now.first_child + tasks_[parent].next;
    return;
  }
  if (policy_.join == join_strategy::wait && tasks_[child].how == started::stolen) {
    rouse(workers_[tasks_[parent].waits_on], now_, step::join_next);
  } else {
    make_ready(w, parent);
  }
}

HEIST_BODY fork_kind frames::kind_of_fork(std::uint32_t t) noexcept {
  if (!has_tiers()) return policy_.order == fork_order::parent_first ? fork_kind::parent_first : fork_kind::child_first;
  std::uint32_t const bound = tasks_[t].bound;
  if (bound == none) return fork_kind::parent_first;
  return bound == t && !inter_[t].leaf ? fork_kind::inter : fork_kind::child_first;
}

HEIST_BODY void frames::fork(worker& w, std::uint32_t t, stage const& now) {
  task_state& s = tasks_[t];
  s.kind = kind_of_fork(t);
  s.next = 0;
  s.joins = false;
  for (std::uint32_t c = now.first_child; c != now.first_child + now.children; ++c) {
    tasks_[c] = {};
    tasks_[c].depth = s.depth + 1;
    tasks_[c].bound = s.bound;
  }
  switch (s.kind) {
    case fork_kind::parent_first:
      return advance(w, times(cost().fork, now.children - 1, w), activity::fork_join, step::call_next);
    case fork_kind::child_first:
      return call_child_first(w, t, now);
    case fork_kind::inter:
      return advance(w, times(cost().inter, now.children, w), activity::fork_join, step::call_next);
  }
}

HEIST_BODY void frames::call_next(worker& w) {
  std::uint32_t const t = w.task;
  stage const& now = program_.stage_at(t, tasks_[t].stage);
  switch (tasks_[t].kind) {
    case fork_kind::parent_first:
      // Thieves take the last first, and joins follow in order.
      for (std::uint32_t c = now.first_child + now.children - 1; c != now.first_child; --c) {
        tasks_[c].published = true;
        w.published.push(c);
        ++open_;
      }
      if (now.children > 1) gates_.pushed(gate_of(w));
      return begin(w, now.first_child, started::called, t);
    case fork_kind::child_first: {
      std::uint32_t const child = now.first_child + tasks_[t].next;
      switch (way_of_child(w, t, child, false)) {
        case heist::detail::followed_way::in_place:
          return begin(w, child, started::called, t);
        case heist::detail::followed_way::given:
          donate(w, t, child);
          break;
        case heist::detail::followed_way::stealable:
          w.continuations.push(t);
          ++frames_;
          gates_.pushed_here(gate_of(w));
      }
      return begin(w, child, started::child_called, t);
    }
    case fork_kind::inter:
      return start_inter_children(w, t, now);
  }
}

HEIST_BODY void frames::call_child_first(worker& w, std::uint32_t t, stage const& now) {
  w.task = t;
  if (tasks_[t].next + 1 == now.children) {
    std::uint32_t const child = now.first_child + tasks_[t].next;
    way_of_child(w, t, child, true);
    return begin(w, child, started::called, t);
  }
  advance(w, draw(cost().continuation, w), activity::fork_join, step::call_next);
}

HEIST_BODY void frames::child_returned(worker& w, std::uint32_t t) {
  task_state& s = tasks_[t];
  stage const& now = program_.stage_at(t, s.stage);
  w.task = t;
  ++s.next;
  if (s.kind == fork_kind::parent_first) {
    if (s.next == now.children) return next_stage(w, t);
    return advance(w, draw(cost().join, w), activity::fork_join, step::join_next);
  }
  if (s.next != now.children) return call_child_first(w, t, now);
  s.next = 0;
  s.joins = true;
  s.left_by = none;
  await_children(w, t, now);
}

HEIST_BODY void frames::join_next(worker& w) {
  std::uint32_t const t = w.task;
  task_state& s = tasks_[t];
  std::uint32_t const child = program_.stage_at(t, s.stage).first_child + s.next;
  if (tasks_[child].published) {
    w.published.pop_back();
    --open_;
    tasks_[child].published = false;
    return begin(w, child, started::called, t);
  }
  if (tasks_[child].done) return child_returned(w, t);
  switch (policy_.join) {
    case join_strategy::park:
      return park(w, t, child);
    case join_strategy::leapfrog:
      return wait_for_thief(w);
    case join_strategy::wait:
      s.awaits = child;
      s.waits_on = w.number;
      w.current_activity = activity::waiting;  // until another worker wakes it
      return;
  }
}

HEIST_BODY void frames::await_children(worker& w, std::uint32_t t, stage const& now) {
  task_state& s = tasks_[t];
  if (follow_.is_special(t)) return join_followed(w, t, now);
  if (!children_done(s, now)) return park(w, t, now.first_child + s.next);
  next_stage(w, t);
}

HEIST_BODY void frames::park(worker& w, std::uint32_t t, std::uint32_t child) {
  tasks_[t].awaits = child;
  if (tasks_[t].left_by == none) tasks_[t].left_by = w.number;  // at the first child that it waits for
  ++told_.parks;
  advance(w, draw(cost().park, w), activity::fork_join, step::take_up);
}

HEIST_BODY void frames::wait_for_thief(worker& w) {
  task_state const& s = tasks_[w.task];
  std::uint32_t const child = program_.stage_at(w.task, s.stage).first_child + s.next;
  if (tasks_[child].done) return child_returned(w, w.task);
  ++w.told.attempts;
  w.victim = tasks_[child].thief;
  advance(w, std::max<ticks>(1, draw(cost().attempt, w)), activity::waiting, step::stolen_from_thief);
}

HEIST_BODY void frames::stolen_from_thief(worker& w) {
  worker& thief = workers_[w.victim];
  if (thief.published.empty() || &thief == &w) return wait_for_thief(w);
  w.beneath = w.task;
  steal_published(w, thief);
}

}  // namespace heist::sim
