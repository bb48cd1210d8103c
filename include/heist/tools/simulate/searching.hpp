// The half of a simulation that searches: it drives the policies' own objects as core/scheduler/worker_loop.hpp does.
#pragma once

#include <algorithm>  // max
#include <cstdint>
#include <utility>  // exchange
#include <vector>

#include "heist/core/policy/policies.hpp"
#include "heist/core/policy/search_step.hpp"
#include "heist/core/policy/victim_watch.hpp"
#include "heist/tools/simulate/broken_promise.hpp"
#include "heist/tools/simulate/frames.hpp"
#include "heist/tools/simulate/inter_frames.hpp"
#include "heist/tools/simulate/mailbox.hpp"
#include "heist/tools/simulate/runs.hpp"
#include "heist/tools/simulate/sim_error.hpp"
#include "heist/tools/simulate/taking.hpp"

namespace heist::sim {

/// Throws sim_error for a policy that breaks a promise.
template <policy::executor_policy Policy>
class searcher : protected frames {
  using victim_type = typename Policy::victim_type;
  using idle_type = typename Policy::idle_type;
  using search_step = heist::detail::search_step;
  using victim_promise = heist::detail::victim_promise;
  static constexpr bool tiers = Policy::tier_type::division != tier_mode::none;
  static constexpr bool is_sampling = victim::sampling_policy<victim_type>;

  /// A policy that wants more looks before one attempt breaks promise V4.
  static constexpr std::uint32_t most_looks = 1'000'000;

 protected:
  searcher(program const& p, options const& wanted)
      : frames{p,
               wanted,
               {Policy::order_type::value, Policy::join_type::strategy, Policy::tier_type::division,
                idle_config::of<idle_type>(), tier::has_history_squads<typename Policy::tier_type>()}},
        decisions_(count_) {
    if constexpr (victim::placed_policy<victim_type>) {
      for (worker& w : workers_) decisions_[w.number].victim.place(view_of_all(w), machine_, placed_);
    }
  }
  ~searcher() = default;

  /// Worker 0 has the program in hand, the other workers search.
  void begin_all() {
    for (worker& w : workers_) {
      w.next = step::search;
      if (w.number == 0) {
        gates_.start_stealing(gate_of(w));
        w.searching = true;
        w.in_hand = {item::kind::next_run, none};
        w.next = step::use_hand;
        found(w);
        set_active(w);
      }
      queue_.add(0, w.number);
    }
  }

  void act(worker& w) {
    switch (w.next) {
      case step::end_work:
        return end_work(w);
      case step::call_next:
        return call_next(w);
      case step::join_next:
        return join_next(w);
      case step::stolen_from_thief:
        return stolen_from_thief(w);
      case step::use_hand:
        return use_hand(w);
      case step::take_up:
        return take_up(w);
      case step::search:
        return search(w);
      case step::look_round:
        return look_round(w);
      case step::attempt:
        return attempt(w);
      case step::steal_from_peer:
        return steal_from_peer(w);
      case step::look_at_peer:
      case step::look:
        return look(w);
      case step::steal_from_victim:
        return steal_from_victim(w);
      case step::pause:
        return pause(w);
    }
  }

 private:
  // --- Algorithm 5: a search, which ends with work or with sleep ---

  void search(worker& w) {
    if (w.asleep) {
      w.asleep = false;
      w.notified = true;
      if constexpr (idle::sleep_told_policy<idle_type>)
        decisions_[w.number].idle.slept((now_ - w.subrange) * cost().clock);
      --asleep_;
      if (recording_) recording_->slept(w.number, false, now_);
    }
    if (follow_.strict()) return await_mail(w);
    if (!w.searching) {
      w.searching = true;
      gates_.start_stealing(gate_of(w));
    }
    if (tiers && w.head) {
      squads_.head_is_awake(w.squad);
      squads_.head_returns(w.squad);
    }
    explore(w);
  }

  /// Strict following: no worker searches.
  void await_mail(worker& w) {
    if (item const i = take_mail(w); i) return take_in_hand(w, i);
    w.awaits_mail = true;
    w.current_activity = activity::waiting;  // until it is given an item
  }

  /// Algorithm 4.
  void explore(worker& w) {
    decisions& d = decisions_[w.number];
    d.idle.begin(count_, w.worked);
    w.worked = ~std::uint64_t{0};
    w.attempts = 0;
    if constexpr (tiers) {
      if constexpr (victim::search_policy<victim_type>) d.near.begin(view_of_squad(w), w.random);
      w.first_look = true;
      look_in_squad(w);
    } else {
      ticks const delay = times(cost().pause, d.idle.wake_delay(), w);
      if (delay == 0) return look_round(w);
      advance(w, delay, activity::search, step::look_round);
    }
  }
  void look_round(worker& w) {
    w.first_look = false;
    if (item const i = take_mail(w); i) return take(w, i);
    if (item const i = take_submitted(); i) return take(w, i);
    if constexpr (victim::search_policy<victim_type>) decisions_[w.number].victim.begin(view_of_all(w), w.random);
    attempt(w);
  }

  void attempt(worker& w) {
    ++w.attempts;
    if (item const i = take_mail(w); i) return take(w, i);
    if (search_step::is_last_resort(w.attempts)) {
      if (item const i = follow_.take_any_mail(); i) return take(w, i);
    }
    if constexpr (tiers) {
      look_in_squad(w);
    } else {
      choose(w);
    }
  }

  /// CAB's Algorithm I, one attempt: steps 2 to 6.
  void look_in_squad(worker& w) {
    if (item const i = squads_.take_ready(w.squad); i) return take(w, i);
    if (squads_.busy(w.squad)) {
      if (placed_.members[w.squad].size() == 1) return squad_has_nothing(w);
      w.looks = 0;
      return choose_from(w, true);
    }
    if (w.head) {
      if (item const i = squads_.head_take(w.squad, w.random.below(squads_.size())); i) return take(w, i);
    }
    squad_has_nothing(w);
  }
  void steal_from_peer(worker& w) {
    worker& stolen_from = workers_[placed_.members[w.squad][w.victim]];
    if (!steal_one(w, stolen_from, true, decisions_[w.number].near, w.victim)) squad_has_nothing(w);
  }
  void squad_has_nothing(worker& w) {
    if (w.first_look) return look_round(w);
    if (search_step::is_last_resort(w.attempts) && w.head) {
      if (item const i = squads_.head_take_any(w.squad); i) return take(w, i);
    }
    choose(w);
  }

  // --- one attempt ---

  void choose(worker& w) {
    w.looks = 0;
    choose_from(w, false);
  }
  /// Asks the policy which worker to steal from or to look at; `near`: within the squad.
  void choose_from(worker& w, bool near) {
    decisions& d = decisions_[w.number];
    victim_type& victim = near ? d.near : d.victim;
    victim::thief_view const me = near ? view_of_squad(w) : view_of_all(w);
    auto const check = [&](bool holds, victim_promise which) {
      if (which == victim_promise::names_a_worker) {
        if (!holds) throw sim_error(victim::complaint<victim_type>(detail::names_no_worker(w.victim, me.workers)));
      } else if (!holds || ++w.looks > most_looks) {
        throw sim_error(victim::complaint<victim_type>(
            "looks without end, or at itself; fix its wants_look() to become false after finitely many looks, and "
            "when next() has named its own number (V4)"));
      }
    };
    if (heist::detail::ask_for_victim(victim, me, w.random, w.victim, check)) {
      ++w.told.looks;
      return advance(w, draw(cost().look, w) + way_to(w, near), activity::search,
                     near ? step::look_at_peer : step::look);
    }
    if (near && w.victim == me.self) return squad_has_nothing(w);
    if (!near) {
      if (!d.watch.includes_all(me, w.victim, [&](std::uint32_t u) {
            return u == w.number ? !master_.empty() : offer_of(workers_[u], may_have_frames(w, workers_[u])).tasks != 0;
          }))
        throw sim_error(victim::complaint<victim_type>(
            detail::neglects_worker(d.watch.suspect(), victim::watch::enough(count_), w.number)));
      if (w.victim == me.self) {
        if (item const i = take_submitted(); i) return take(w, i);
        return failed(w);
      }
    }
    ++w.told.attempts;
    advance(w, draw(cost().attempt, w) + way_to(w, near), activity::search,
            near ? step::steal_from_peer : step::steal_from_victim);
  }
  /// The extra time of an attempt at w.victim, or of a look, because the victim is far or unfamiliar.
  ticks way_to(worker& w, bool near) {
    worker const& there = near ? workers_[placed_.members[w.squad][w.victim]] : workers_[w.victim];
    ticks const far = there.squad == w.squad ? 0 : draw(cost().far, w);
    return cost().familiar == 0 || w.known.use(there.number, 0) ? far : far + draw(cost().unfamiliar, w);
  }
  void look(worker& w) {
    if constexpr (is_sampling) {
      bool const near = w.next == step::look_at_peer;
      worker const& seen = near ? workers_[placed_.members[w.squad][w.victim]] : workers_[w.victim];
      (near ? decisions_[w.number].near : decisions_[w.number].victim)
          .looked(w.victim, offer_of(seen, may_have_frames(w, seen)));
      choose_from(w, near);
    }
  }
  void steal_from_victim(worker& w) {
    worker& stolen_from = workers_[w.victim];
    if (steal_one(w, stolen_from, may_have_frames(w, stolen_from), decisions_[w.number].victim, w.victim)) return;
    if (stolen_from.help_wanted != 0) {
      --stolen_from.help_wanted;
      gates_.wake_one(gate_of(stolen_from));
    }
    failed(w);
  }

  /// Takes the oldest thing that `stolen_from` has, and tells the policy what came of it.
  bool steal_one(worker& w, worker& stolen_from, bool with_frames, victim_type& victim, std::uint32_t named) {
    bool const has_deque = !stolen_from.deque.empty();
    bool const has_frames = with_frames && !stolen_from.continuations.empty();
    bool const has = has_deque || has_frames || !stolen_from.published.empty();
    heist::detail::tell_outcome(victim, named, has ? victim::outcome::stolen : victim::outcome::empty,
                                [&] { return stolen_from.searching; });
    if (!has) return false;
    if (has_deque) {
      --open_;
      stolen(w, stolen_from, stolen_from.deque.pop_front());
    } else if (has_frames) {
      steal_continuation(w, stolen_from);
    } else {
      steal_published(w, stolen_from);
    }
    found(w);
    set_active(w);
    return true;
  }

  /// Frames stay in their squad.
  static bool may_have_frames(worker const& w, worker const& stolen_from) noexcept {
    return !tiers || w.squad == stolen_from.squad;
  }
  victim::offer offer_of(worker const& seen, bool with_frames) const noexcept {
    auto const many = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
    if (!seen.deque.empty()) return {many(seen.deque.size()), 0};
    if (with_frames && !seen.continuations.empty())
      return {many(seen.continuations.size()), tasks_[seen.continuations.front()].depth};
    if (!seen.published.empty()) return {many(seen.published.size()), tasks_[seen.published.front()].depth};
    return {};
  }

  void failed(worker& w) {
    switch (decisions_[w.number].idle.failed()) {
      case idle::step::search:
        w.pauses_left = 1;
        return pause(w);
      case idle::step::pause:
        w.pauses_left = std::max(1u, decisions_[w.number].idle.pauses());
        return pause(w);
      case idle::step::yield:
        return advance(w, std::max<ticks>(1, draw(cost().yield, w)), activity::search, step::attempt);
      case idle::step::sleep:
        break;
    }
    if (item const i = follow_.take_any_mail(); i) return take(w, i);
    if (tiers && w.head) {
      if (item const i = squads_.head_take_any(w.squad); i) return take(w, i);
    }
    fall_asleep(w);
  }
  /// With tiers, a pause ends when a task is put where only this squad looks.
  void pause(worker& w) {
    if (w.pauses_left == 0 || (tiers && w.next == step::pause && squads_.called(w.squad, w.head))) return attempt(w);
    std::uint32_t const now = tiers ? 1 : w.pauses_left;
    w.pauses_left -= now;
    advance(w, std::max<ticks>(1, times(cost().pause, now, w)), activity::search, step::pause);
  }

  void fall_asleep(worker& w) {
    if (tiers && w.head) squads_.head_falls_asleep(w.squad);
    if (!gates_.try_sleep(gate_of(w), w.number, [&] { return work_for(w); })) {
      if (tiers && w.head) squads_.head_is_awake(w.squad);
      return advance(w, std::max<ticks>(1, draw(cost().pause, w)), activity::search, step::search);
    }
    w.searching = false;
    w.asleep = true;
    ++asleep_;
    ++w.told.sleeps;
    w.current_activity = activity::asleep;  // until it is roused
    if (recording_) recording_->slept(w.number, true, now_);
  }
  /// Is there an item that `w` may take?
  bool work_for(worker const& w) const noexcept {
    if (open_ != 0 || follow_.has(w.number) || follow_.has_mail()) return true;
    if constexpr (tiers) {
      for (std::uint32_t const peer : placed_.members[w.squad])
        if (!workers_[peer].continuations.empty()) return true;
      return squads_.may_take(w.squad, w.head);
    } else {
      return frames_ != 0;
    }
  }

  // --- the search has an end ---

  void take(worker& w, item i) {
    found(w);
    take_in_hand(w, i);
  }
  void found(worker& w) {
    w.searching = false;
    gates_.found_work(
        gate_of(w), [&] { return work_for(w); }, std::exchange(w.notified, false));
    if (tiers && w.head) squads_.head_leaves(w.squad);
  }

  victim::thief_view view_of_all(worker const& w) const noexcept { return {w.number, count_}; }
  victim::thief_view view_of_squad(worker const& w) const noexcept {
    return {w.place, static_cast<std::uint32_t>(placed_.members[w.squad].size())};
  }

  struct decisions {
    victim_type victim, near;  ///< near: within the squad
    idle_type idle;
    victim::watch watch;
  };
  std::vector<decisions> decisions_;
};

}  // namespace heist::sim
