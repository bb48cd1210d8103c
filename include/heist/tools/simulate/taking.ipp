// Bodies of taking.hpp.
#pragma once

#include "heist/tools/simulate/taking.hpp"

#include <utility>  // exchange

namespace heist::sim {

HEIST_BODY void frames::steal_published(worker& w, worker& from) {
  std::uint32_t const t = from.published.pop_front();
  --open_;
  tasks_[t].published = false;
  tasks_[t].thief = w.number;
  stolen(w, from, {item::kind::stolen, t});
}

HEIST_BODY void frames::steal_continuation(worker& w, worker& from) {
  std::uint32_t const t = from.continuations.pop_front();
  overtake(t);
  tasks_[t].left_by = from.number;
  stolen(w, from, {item::kind::continuation_stolen, t});
}

HEIST_BODY void frames::stolen(worker& w, worker& from, item i) {
  ++w.told.steals;
  was_steal(w);
  if (recording_) recording_->stole(w.number, from.number, now_);
  w.in_hand = i;
  advance(w, draw(cost().steal, w), activity::steal, step::use_hand);
}

HEIST_BODY void frames::use_hand(worker& w) {
  item const i = std::exchange(w.in_hand, item{});
  note_place(w, i);
  switch (i.what) {
    case item::kind::stolen:
      return begin(w, i.task, started::stolen, std::exchange(w.beneath, none));
    case item::kind::node:
      return begin(w, nodes_.taken(i.task), started::node, none);
    case item::kind::inter:
      return begin_inter(w, i.task);
    case item::kind::resume:
      return resume(w, i.task);
    case item::kind::continuation_stolen:
      if (task_state const& s = tasks_[i.task]; steal_recorder_ && s.left_by != w.number) {
        steal_recorder_->record(program_, program_.stage_at(i.task, s.stage).first_child + s.next, w.number, s.left_by,
                                false);
      }
      return child_returned(w, i.task);
    case item::kind::next_run:
      return begin_run(w);
    case item::kind::nothing:
      return take_up(w);
  }
}

HEIST_BODY void frames::note_place(worker const& w, item i) {
  if (!recording_ || i.task == none) return;
  std::uint32_t const bound = tasks_[i.task].bound;
  if (bound == none || i.what == item::kind::inter || inter_[bound].suspended) return;
  recording_->placed(w.number, w.squad, bound, 0, placement_kind::intra_begin);
}

HEIST_BODY void frames::take_in_hand(worker& w, item i) {
  set_active(w);
  w.in_hand = i;
  switch (i.what) {
    case item::kind::resume:
      return advance(w, draw(cost().resume, w), activity::fork_join, step::use_hand);
    case item::kind::inter:
      return advance(w, draw(cost().inter, w), activity::fork_join, step::use_hand);
    case item::kind::node:
      return advance(w, draw(cost().node, w), activity::fork_join, step::use_hand);
    case item::kind::continuation_stolen:
      ++w.told.donations;
      return advance(w, draw(cost().steal, w), activity::steal, step::use_hand);
    default:
      return use_hand(w);
  }
}

HEIST_BODY void frames::make_ready(worker& w, std::uint32_t t) {
  std::uint32_t const bound = tasks_[t].bound;
  item const i{item::kind::resume, t};
  if (bound == none) {
    push(w, i);
  } else if (inter_[bound].suspended) {
    squads_.add_pinned(inter_[bound].squad, i);
  } else {
    squads_.add_ready(inter_[bound].squad, i);
  }
}

HEIST_BODY void frames::resume(worker& w, std::uint32_t t) {
  task_state& s = tasks_[t];
  stage const& now = program_.stage_at(t, s.stage);
  w.task = t;
  switch (s.kind) {
    case fork_kind::parent_first:
      return child_returned(w, t);
    case fork_kind::child_first:
      if (follow_.is_special(t)) return resume_followed(w, t);
      if (steal_recorder_ && children_done(s, now))
        steal_recorder_->record(program_, last_child(t), w.number, s.left_by, true);
      return await_children(w, t, now);
    case fork_kind::inter:
      enter_squad(w, t);
      return next_stage(w, t);
  }
}

HEIST_BODY void frames::take_up(worker& w) {
  w.task = none;
  if (!w.continuations.empty()) {
    std::uint32_t const t = w.continuations.pop_back();
    overtake(t);
    return child_returned(w, t);
  }
  item i = pop(w);
  if (has_tiers()) {
    if (!i) {
      i = squads_.take_ready(w.squad);
    } else if (w.head) {
      squads_.head_leaves(w.squad);
    }
  }
  if (!i) i = take_mail(w);
  if (i) return take_in_hand(w, i);
  set_inactive(w);
  advance(w, 0, activity::search, step::search);
}

HEIST_BODY void frames::set_active(worker& w) {
  if (w.active) return;
  w.active = true;
  ++active_;
  w.active_since = now_;
  w.help_wanted = policy_.idle.helpers;
  gates_.set_active(gate_of(w));
}

HEIST_BODY void frames::set_inactive(worker& w) noexcept {
  if (!w.active) return;
  w.active = false;
  --active_;
  w.worked = (now_ - w.active_since) * cost().clock;
  w.help_wanted = 0;
  gates_.set_inactive();
}

}  // namespace heist::sim
