// Bodies of mailbox.hpp.
#pragma once

#include "heist/tools/simulate/mailbox.hpp"

#include <fmt/core.h>

#include <utility>  // exchange

namespace heist::sim {

HEIST_BODY void frames::donate(worker& w, std::uint32_t t, std::uint32_t child) {
  tasks_[child].continuation_stolen = true;
  tasks_[t].left_by = w.number;
  follow_.give(t, {item::kind::continuation_stolen, t}, told_by(&w));
}

HEIST_BODY void frames::join_followed(worker& w, std::uint32_t t, stage const& now) {
  bool const waits = !children_done(tasks_[t], now);
  bool const moves = follow_.moves(t, waits);
  if (!waits && !moves) return next_stage(w, t);
  if (moves) follow_.turn(w.number, told_by(&w));
  if (!waits) follow_.give(t, {item::kind::resume, t}, told_by(&w));
  park(w, t, waits ? now.first_child + tasks_[t].next : none);
}

HEIST_BODY void frames::make_followed_ready(worker& w, std::uint32_t t) {
  item const i{item::kind::resume, t};
  if (follow_.moves(t, true)) return follow_.give(t, i, told_by(&w));
  if (!follow_.strict()) return push(w, i);
  follow_.keep_for(tasks_[t].left_by, i);
  notify_of_mail(&w, tasks_[t].left_by);
}

HEIST_BODY void frames::resume_followed(worker& w, std::uint32_t t) {
  // In order nothing else has run here meanwhile.
  if (follow_.moves(t, true) || !follow_.in_order())
    steal_recorder_->record(program_, last_child(t), w.number, tasks_[t].left_by, true);
  next_stage(w, t);
}

/// `from`: the worker that spends time on it; null if no worker does.
HEIST_BODY void frames::notify_of_mail(worker* from, std::uint32_t to) {
  worker& w = workers_[to];
  ticks donate_time = 0;
  if (from != nullptr && from != &w) {
    donate_time = draw(cost().donate, *from) + (from->squad == w.squad ? 0 : draw(cost().far, *from));
    from->owes += donate_time;
  }
  if (std::exchange(w.awaits_mail, false)) rouse(w, now_ + donate_time, step::search);
  gates_.wake_for(gate_of(w), to, follow_.strict());
}

HEIST_BODY item frames::take_mail(worker& w) {
  item const i = follow_.take(w.number);
  if (follow_.has_mail(w.number)) gates_.wake_for(gate_of(w), w.number, follow_.strict());
  return i;
}

HEIST_BODY void frames::submit_next_run() {
  item const next{item::kind::next_run, none};
  if (follow_.active()) {
    follow_.keep_for(follow_.body_worker(), next);
    notify_of_mail(nullptr, follow_.body_worker());
  } else {
    submit(next);
  }
}

HEIST_BODY bool frames::begin_following(worker& w, run const& r) {
  bool const of_tree = r.nodes == 0;
  if (of_tree && follow_.body_worker() != w.number) {
    follow_.keep_for(follow_.body_worker(), {item::kind::next_run, none});
    notify_of_mail(&w, follow_.body_worker());
    take_up(w);
    return false;
  }
  follow_.begin_run(of_tree, r.first, told_by(&w));
  for (worker& other : workers_)  // a graph's nodes are stolen
    if (!of_tree && std::exchange(other.awaits_mail, false)) rouse(other, now_, step::search);
  return true;
}

HEIST_BODY bool frames::give_up_order() {
  if (!follow_.give_up_order(told_by(nullptr))) return false;
  told_.notes.push_back(fmt::format(
      "from tick {} on without order: the order of the tree cannot be kept by this program, so it was given up", now_));
  return true;
}

}  // namespace heist::sim
