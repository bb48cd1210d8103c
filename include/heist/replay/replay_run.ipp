// Bodies of replay_run.hpp.
#pragma once

#include "heist/replay/replay_run.hpp"

#include <algorithm>  // sort
#include <cstddef>    // size_t
#include <utility>    // pair

namespace heist::detail {

HEIST_BODY replay_run::replay_run(core& home, recorded_run& record, steal_tree const& tree, replay_mode mode,
                                  bool by_hand)
    : home_{home},
      nodes_{tree.nodes()},
      strict_{mode != replay_mode::relaxed},
      by_hand_{by_hand},
      serial_{&record, 0, frame_record::special | frame_record::serial} {
  if (strict_) interrupt.resumes = &stays_;
  // The lists of more workers than there are cannot be kept apart.
  if (mode == replay_mode::strict_ordered && !by_hand && tree.worker_count() <= home.workers.size()) make_lists();
  record.run = this;
  record.forks = frame_record::special;
  record.end = static_cast<std::uint32_t>(nodes_.size());
  record.next = record.end == 0 ? 0 : 1;
}

HEIST_BODY std::uint32_t replay_run::pass_to(followed_record& r, std::uint32_t branch) noexcept {
  while (r.next != r.end && nodes_[r.next].branch < branch) {
    pass(r.next, nodes_[r.next].end);
    r.next = nodes_[r.next].end;
  }
  if (r.next == r.end || nodes_[r.next].branch != branch) return steal_tree::none;
  std::uint32_t const found = r.next;
  r.next = nodes_[found].end;
  return found;
}

HEIST_BODY void replay_run::pass_rest(followed_record& r) noexcept {
  pass(r.next, r.end);
  r.next = r.end;
}

HEIST_BODY followed_record replay_run::record_of_child(frame_record* parent, std::uint32_t branch,
                                                       std::uint32_t i) noexcept {
  if (!goes_deeper(i)) return {parent, branch, this, 0, 0};
  return {parent, branch, this, i + 1, nodes_[i].end};
}

HEIST_BODY replay_seat replay_run::seat_of(std::uint32_t i) noexcept {
  if (i == steal_tree::none || !nodes_[i].entry()) return replay_seat{this};
  return replay_seat{this, nodes_[i].worker % static_cast<std::uint32_t>(home_.workers.size()),
                     lists_ ? place_[i] : replay_seat::nowhere};
}

HEIST_BODY void replay_run::refuse(replay_seat const& s) noexcept {
  not_made_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  if (lists_ && s.place != replay_seat::nowhere) begin_on(s.to, lists_->pass(s.to, s.place));
}

HEIST_BODY void replay_run::give(replay_seat const& s, queued_runnable& item) noexcept {
  worker& w = *home_.workers[s.to];
  if (!strict_) return home_.give(w, item);
  if (s.place != replay_seat::nowhere && lists_ && lists_->arrive(s.to, s.place, item) == nullptr) return;
  begin_on(s.to, &item);
}

HEIST_BODY void replay_run::stay(worker& w, queued_runnable& item) noexcept {
  if (strict_) {
    begin_on(w.number, &item);
  } else {
    home_.make_runnable(item);
  }
}

HEIST_BODY void replay_run::turn(fiber& f) noexcept {
  std::uint32_t const of = room_notes{f.room_word}.exchange_turn_of(room_notes::no_turn);
  if (of != room_notes::no_turn) turn(of);
}

HEIST_BODY void replay_run::one_less() noexcept {
  if (live_.remove()) give_up_order();
}

HEIST_BODY void replay_run::begin(std::uint32_t body) noexcept {
  for (auto const& w : home_.workers) {
    if (w->number != body) turn(w->number);
  }
}

HEIST_BODY void replay_run::body_ended() noexcept {
  if (!strict_) return;
  live_.end();
  one_less();
}

HEIST_BODY void replay_run::finish() noexcept {
  if (strict_) live_.wait_ended();
}

HEIST_BODY void replay_run::turn(std::uint32_t w) noexcept {
  if (lists_) begin_on(w, lists_->turn(w));
}

HEIST_BODY void replay_run::make_lists() {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> of_worker(home_.workers.size());
  for (std::uint32_t i = 0; i != nodes_.size(); ++i) {
    if (nodes_[i].entry()) of_worker[nodes_[i].worker].emplace_back(nodes_[i].sequence, i);
  }
  place_.resize(nodes_.size());
  std::vector<std::size_t> lengths;
  for (auto& list : of_worker) {
    std::sort(list.begin(), list.end());
    lengths.push_back(list.size());
    for (std::uint32_t place = 0; place != list.size(); ++place) place_[list[place].second] = place;
  }
  lists_.emplace(lengths);
}

HEIST_BODY void replay_run::pass(std::uint32_t from, std::uint32_t to) noexcept {
  if (!lists_) return;
  for (std::uint32_t i = from; i != to; ++i) {
    if (nodes_[i].entry()) begin_on(nodes_[i].worker, lists_->pass(nodes_[i].worker, place_[i]));
  }
}

HEIST_BODY void replay_run::begin_on(std::uint32_t w, queued_runnable* item) noexcept {
  if (item == nullptr) return;
  live_.add();
  home_.make_runnable_on(*home_.workers[w], *item);
}

HEIST_BODY void replay_run::give_up_order() noexcept {
  if (!lists_ || lists_->order_is_off()) return;
  live_.add();
  lists_->begin_anyhow([&](std::size_t w, queued_runnable& item) { begin_on(static_cast<std::uint32_t>(w), &item); });
  one_less();
}

HEIST_BODY void replay_seat::leaves(fiber& f, bool is_left) noexcept {
  if (run == nullptr || (to == nowhere && is_left)) return;
  run->turn(f);
}

HEIST_BODY void replay_seat::make_ready(fiber& f) noexcept {
  if (run == nullptr) {
    f.home.give(*f.home.workers[to], f.resume_item);
  } else if (to == nowhere) {
    run->stay(*f.worker, f.resume_item);
  } else {
    run->give(*this, f.resume_item);
  }
}

HEIST_BODY departure replay_seat::left(fiber&) noexcept {
  if (run == nullptr || !run->counts()) return {};
  return {[](void* of) noexcept { static_cast<replay_run*>(of)->one_less(); }, run};
}

HEIST_BODY void stay_rule::make_ready(fiber& f) noexcept {
  f.home.make_runnable_on(*f.worker, f.resume_item);
}

}  // namespace heist::detail
