// Bodies of gifts.hpp.
#pragma once

#include "heist/sim/gifts.hpp"

#include <fmt/format.h>

#include <utility>  // exchange

namespace heist::sim {

HEIST_BODY void frames::give_away(worker& w, std::uint32_t t, std::uint32_t child, std::uint32_t thief) {
  tasks_[child].continuation_stolen = true;
  tasks_[t].left_by = w.number;
  follow_.give_in_order(thief, tasks_[child].place, {item::kind::continuation_stolen, t});
  tell_of_gift(&w, thief);
}

HEIST_BODY void frames::tell_of_gift(worker* from, std::uint32_t to) {
  worker& w = workers_[to];
  ticks takes = 0;
  if (from != nullptr && from != &w) {
    takes = draw(cost().donate, *from) + (from->squad == w.squad ? 0 : draw(cost().far, *from));
    from->owes += takes;
  }
  if (w.awaits_gift && follow_.has(to)) {
    w.awaits_gift = false;
    rouse(w, now_ + takes, step::search);
  } else if (w.asleep) {
    gates_.wake_this(gate_of(w), to);
  }
}

HEIST_BODY void frames::submit_next_run() {
  item const next{item::kind::next_run, none};
  if (follow_.active()) {
    give(nullptr, follow_.body_worker(), next);
  } else {
    submit(next);
  }
}

HEIST_BODY bool frames::follow_no_further() {
  if (!follow_.strict()) return false;
  follow_.relax();
  told_.notes.push_back(
      fmt::format("from tick {} on followed relaxed: workers waited for steals of the tree that this program, or this "
                  "order, does not have",
                  now_));
  for (worker& w : workers_)
    if (std::exchange(w.awaits_gift, false)) rouse(w, now_, step::search);
  return true;
}

}  // namespace heist::sim
