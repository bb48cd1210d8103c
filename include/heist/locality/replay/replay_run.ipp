// Bodies of replay_run.hpp.
#pragma once

#include "heist/locality/replay/replay_run.hpp"

namespace heist::detail {

HEIST_BODY replay_run::replay_run(core& scheduler, recorded_run& record, followed_tree<queued_runnable>& tree,
                                  bool by_hand) noexcept
    : scheduler_{scheduler},
      tree_{tree},
      by_hand_{by_hand},
      serial_{&record, 0, frame_record::special | frame_record::serial} {
  if (strict()) interrupt.resumes = &in_place_;
  record.run = this;
  record.forks = frame_record::special;
  record.part = tree_.all();
}

HEIST_BODY std::uint32_t replay_run::pass_to(followed_record& r, std::uint32_t branch) noexcept {
  return tree_.pass_to(r.part, branch, begins());
}

HEIST_BODY void replay_run::pass_rest(followed_record& r) noexcept {
  tree_.pass_rest(r.part, begins());
}

HEIST_BODY followed_record replay_run::record_of_child(frame_record* parent, std::uint32_t branch,
                                                       std::uint32_t i) noexcept {
  return {parent, branch, this, tree_.part_of_child(i)};
}

HEIST_BODY replay_slot replay_run::slot_of(std::uint32_t i) noexcept {
  return replay_slot{this, tree_.slot_of(i)};
}

HEIST_BODY void replay_run::reject(replay_slot const& s) noexcept {
  not_made_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  tree_.reject(s, begins());
}

HEIST_BODY void replay_run::give(replay_slot const& s, queued_runnable& item) noexcept {
  if (!strict()) return scheduler_.give(*scheduler_.workers[s.to], item);
  tree_.give(s, item, begins());
}

HEIST_BODY void replay_run::resume_in_place(worker& w, queued_runnable& item) noexcept {
  if (strict()) {
    begin_on(w.number, item);
  } else {
    scheduler_.make_runnable(item);
  }
}

HEIST_BODY void replay_run::turn(fiber& f) noexcept {
  std::uint32_t const of = room_bits{f.extension_word}.exchange_turn_of(room_bits::no_turn);
  if (of != room_bits::no_turn) turn(of);
}

HEIST_BODY void replay_run::one_less() noexcept {
  if (live_.remove()) give_up_order();
}

HEIST_BODY void replay_run::begin(std::uint32_t body) noexcept {
  for (auto const& w : scheduler_.workers) {
    if (w->number != body) turn(w->number);
  }
}

HEIST_BODY void replay_run::body_ended() noexcept {
  if (!strict()) return;
  live_.end();
  one_less();
}

HEIST_BODY void replay_run::finish() noexcept {
  if (strict()) live_.wait_ended();
}

HEIST_BODY void replay_run::turn(std::uint32_t w) noexcept {
  tree_.turn(w, begins());
}

HEIST_BODY void replay_run::begin_on(std::uint32_t w, queued_runnable& item) noexcept {
  live_.add();
  scheduler_.make_runnable_on(*scheduler_.workers[w], item);
}

HEIST_BODY void replay_run::give_up_order() noexcept {
  if (!in_order()) return;
  live_.add();
  tree_.give_up_order(begins());
  one_less();
}

HEIST_BODY void replay_slot::leaves(fiber& f, bool is_left) noexcept {
  if (run == nullptr || (to == no_place && is_left)) return;
  run->turn(f);
}

HEIST_BODY void replay_slot::make_ready(fiber& f) noexcept {
  if (run == nullptr) {
    f.scheduler.give(*f.scheduler.workers[to], f.resume_item);
  } else if (to == no_place) {
    run->resume_in_place(*f.worker, f.resume_item);
  } else {
    run->give(*this, f.resume_item);
  }
}

HEIST_BODY deferred_call replay_slot::left(fiber&) noexcept {
  if (run == nullptr || !run->counts()) return {};
  return {[](void* of) noexcept { static_cast<replay_run*>(of)->one_less(); }, run};
}

HEIST_BODY void in_place_rule::make_ready(fiber& f) noexcept {
  f.scheduler.make_runnable_on(*f.worker, f.resume_item);
}

}  // namespace heist::detail
