// What a simulated worker does with a task: its stages, forks and joins (fork/parent_first.hpp, fork/child_first.hpp,
// fork/join_stolen.hpp), and what comes when it has ended.
#pragma once

#include <algorithm>  // max
#include <cstdint>
#include <utility>  // exchange

#include "heist/sim/state.hpp"

namespace heist::sim {

/// The half of a simulation that works. Each function is a moment in which something takes effect; the time between
/// is spent by spend().
class frames : protected state {
 protected:
  using state::state;
  ~frames() = default;

  // --- a task from its begin to its end ---

  /// Task `t` begins on `w`, on top of the frame `caller`.
  void begin(worker& w, std::uint32_t t, started how, std::uint32_t caller) {
    task_state& s = tasks_[t];
    s.how = how;
    s.caller = caller;
    s.stage = 0;
    begin_stage(w, t);
  }

  void begin_stage(worker& w, std::uint32_t t) {
    stage const& now = program_.stage_at(t, tasks_[t].stage);
    ticks waits = 0;
    for (std::uint32_t i = 0; i != now.touches; ++i)
      waits += memory_.access(w.number, now.first_touch + i, w.told.cache, w.cost_random);
    if (now.touches != 0) waits = memory_.served(now_, waits);
    w.task = t;
    if (now.work + waits == 0 && now.children == 0) return next_stage(w, t);
    w.memory_part = waits;
    spend(w, now.work + waits, activity::work, step::end_work);
  }

  void end_work(worker& w) {
    stage const& now = program_.stage_at(w.task, tasks_[w.task].stage);
    if (recording_ && now_ != w.stretch) recording_->worked(w.number, w.task, w.stretch, now_);
    if (now.children == 0) return next_stage(w, w.task);
    fork(w, w.task, now);
  }

  void next_stage(worker& w, std::uint32_t t) {
    if (++tasks_[t].stage != program_.task_at(t).stages) return begin_stage(w, t);
    end(w, t);
  }

  void end(worker& w, std::uint32_t t) {
    task_state& s = tasks_[t];
    s.done = true;
    ++w.told.tasks;
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
        if (!s.overtaken) {
          w.continuations.take_youngest();
          --frames_;
          w.returns_to = s.caller;
          return;
        }
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

  /// A child has ended that its parent has not called, or not any more.
  void ended_for(worker& w, std::uint32_t child) {
    std::uint32_t const parent = program_.task_at(child).parent;
    if (tasks_[parent].awaits != child) return;
    tasks_[parent].awaits = none;
    if (policy_.join == join_strategy::wait && tasks_[child].how == started::stolen) {
      rouse(workers_[tasks_[parent].waits_on], now_, step::join_next);
    } else {
      let_go_on(w, parent);
    }
  }

  // --- forks ---

  fork_kind kind_of_fork(std::uint32_t t) noexcept {
    if (!has_tiers())
      return policy_.order == fork_order::parent_first ? fork_kind::parent_first : fork_kind::child_first;
    std::uint32_t const bound = tasks_[t].bound;
    if (bound == none) return fork_kind::parent_first;
    return bound == t && !inter_[t].leaf ? fork_kind::inter : fork_kind::child_first;
  }

  void fork(worker& w, std::uint32_t t, stage const& now) {
    task_state& s = tasks_[t];
    s.kind = kind_of_fork(t);
    s.next = 0;
    s.joins = false;
    for (std::uint32_t c = now.first_child; c != now.first_child + now.children; ++c) {
      tasks_[c] = {};
      tasks_[c].depth = s.depth + 1;
      tasks_[c].bound = s.bound;
      if (s.place != none) tasks_[c].place = follow_.child(s.place, program_.task_at(c).index);
    }
    switch (s.kind) {
      case fork_kind::parent_first:
        return spend(w, times(cost().fork, now.children - 1, w), activity::fork_join, step::call_next);
      case fork_kind::child_first:
        return call_child_first(w, t, now);
      case fork_kind::inter:
        return spend(w, times(cost().inter, now.children, w), activity::fork_join, step::call_next);
    }
  }

  /// The fork has taken its time.
  void call_next(worker& w) {
    std::uint32_t const t = w.task;
    stage const& now = program_.stage_at(t, tasks_[t].stage);
    switch (tasks_[t].kind) {
      case fork_kind::parent_first:
        // Thieves take the last first, and joins go on in order.
        for (std::uint32_t c = now.first_child + now.children - 1; c != now.first_child; --c) {
          tasks_[c].offered = true;
          w.offered.push(c);
          ++open_;
        }
        if (now.children > 1) gates_.pushed(gate_of(w));
        return begin(w, now.first_child, started::called, t);
      case fork_kind::child_first: {
        std::uint32_t const child = now.first_child + tasks_[t].next;
        if (std::uint32_t const thief = follow_.thief(tasks_[child].place); thief != none && thief != w.number) {
          give_away(w, t, child, thief);
        } else {
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

  void call_child_first(worker& w, std::uint32_t t, stage const& now) {
    w.task = t;
    if (tasks_[t].next + 1 == now.children) return begin(w, now.first_child + tasks_[t].next, started::called, t);
    spend(w, draw(cost().continuation, w), activity::fork_join, step::call_next);
  }

  // --- joins ---

  /// After each step: frames whose children have ended in it go on. Not at once, as there may be very many of them.
  void return_to_callers(worker& w) {
    while (w.returns_to != none) child_returned(w, std::exchange(w.returns_to, none));
  }
  /// The frame `t` goes on on `w` after the child that it has called.
  void child_returned(worker& w, std::uint32_t t) {
    task_state& s = tasks_[t];
    stage const& now = program_.stage_at(t, s.stage);
    w.task = t;
    ++s.next;
    if (s.kind == fork_kind::parent_first) {
      if (s.next == now.children) return next_stage(w, t);
      return spend(w, draw(cost().join, w), activity::fork_join, step::join_next);
    }
    if (s.next != now.children) return call_child_first(w, t, now);
    s.next = 0;
    s.joins = true;
    await_children(w, t, now);
  }

  /// Parent-first: the next child is taken back, or has been stolen.
  void join_next(worker& w) {
    std::uint32_t const t = w.task;
    task_state& s = tasks_[t];
    std::uint32_t const child = program_.stage_at(t, s.stage).first_child + s.next;
    if (tasks_[child].offered) {
      w.offered.take_youngest();
      --open_;
      tasks_[child].offered = false;
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
        w.doing = activity::waiting;  // until somebody rouses it
        return;
    }
  }

  /// Child-first: all children have been called; those whose caller was stolen meanwhile may run still.
  void await_children(worker& w, std::uint32_t t, stage const& now) {
    task_state& s = tasks_[t];
    if (!children_done(s, now)) return park(w, t, now.first_child + s.next);
    std::uint32_t const next = follow_.strict() ? successor(t, w.number) : w.number;
    if (next == w.number) return next_stage(w, t);
    s.left_by = w.number;
    ++told_.parks;
    give(&w, next, {item::kind::resume, t});
    spend(w, draw(cost().park, w), activity::fork_join, step::take_up);
  }
  bool children_done(task_state& s, stage const& now) const noexcept {
    while (s.next != now.children && tasks_[now.first_child + s.next].done) ++s.next;
    return s.next == now.children;
  }

  void park(worker& w, std::uint32_t t, std::uint32_t child) {
    tasks_[t].awaits = child;
    tasks_[t].left_by = w.number;
    ++told_.parks;
    spend(w, draw(cost().park, w), activity::fork_join, step::take_up);
  }

  /// Leap-frogging: `w.task` waits for a child, and runs what the child's thief has forked.
  void wait_for_thief(worker& w) {
    task_state const& s = tasks_[w.task];
    std::uint32_t const child = program_.stage_at(w.task, s.stage).first_child + s.next;
    if (tasks_[child].done) return child_returned(w, w.task);
    ++w.told.attempts;
    w.victim = tasks_[child].thief;
    spend(w, std::max<ticks>(1, draw(cost().attempt, w)), activity::waiting, step::robbed_thief);
  }
  void robbed_thief(worker& w) {
    worker& thief = workers_[w.victim];
    if (thief.offered.empty() || &thief == &w) return wait_for_thief(w);
    w.beneath = w.task;
    steal_offered(w, thief);
  }

  // --- taking.hpp: stealing, and going on ---

  /// Takes the oldest child that `from` offers; there is one.
  void steal_offered(worker& w, worker& from);
  void steal_continuation(worker& w, worker& from);
  void overtake(std::uint32_t t) noexcept;
  void stolen(worker& w, worker& from, item i);
  /// What the worker has taken begins or goes on.
  void use_hand(worker& w);
  /// A frame of an inter-squad task's subtree has changed its worker, or waited.
  void note_place(worker const& w, item i);
  /// Has it in hand, and what it is costs before it starts.
  void take_in_hand(worker& w, item i);
  /// A frame that has waited.
  void let_go_on(worker& w, std::uint32_t t);
  void go_on(worker& w, std::uint32_t t);
  /// The worker's task is over, or waits: what is there in its own pools? (Algorithm 3)
  void take_up(worker& w);
  void become_active(worker& w);
  void become_inactive(worker& w) noexcept;

  static ticks times(duration d, std::uint32_t n, worker& w) noexcept {
    return n == 0 ? 0 : draw({d.mean * n, d.law}, w);
  }

  // --- gifts.hpp: following a steal tree ---

  /// The rest of `t`, which calls `child`, goes to `thief` (donation).
  void give_away(worker& w, std::uint32_t t, std::uint32_t child, std::uint32_t thief);
  void give(worker* from, std::uint32_t to, item i);
  void tell_of_gift(worker* from, std::uint32_t to);
  std::uint32_t last_child(std::uint32_t t) const noexcept;
  /// Strict modes: who goes on with `t` behind its present join, which `w` has reached. The tree says so unless there
  /// was nothing to wait for.
  std::uint32_t successor(std::uint32_t t, std::uint32_t w) const noexcept;
  void submit_next_run();
  /// Nobody has an event: those who wait for gifts go on without. False if nobody is to wait for any.
  bool follow_no_further();

  // --- inter_frames.hpp, runs.hpp ---

  void start_inter_children(worker& w, std::uint32_t t, stage const& now);
  void begin_inter(worker& w, std::uint32_t t);
  void end_inter(worker& w, std::uint32_t t);
  void start_body(worker& w, std::uint32_t t);
  void enter_squad(worker& w, std::uint32_t t);
  void leave_squad(worker& w, std::uint32_t t);

  void begin_run(worker& w);
  void end_run(worker& w);
  void end_node(worker& w, std::uint32_t t);
};

}  // namespace heist::sim
