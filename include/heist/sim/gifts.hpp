// A simulation along a steal tree: what workers give each other. Members of frames.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <utility>  // exchange

#include "heist/sim/frames.hpp"

namespace heist::sim {

inline void frames::give_away(worker& w, std::uint32_t t, std::uint32_t child, std::uint32_t thief) {
  tasks_[child].overtaken = true;
  tasks_[t].left_by = w.number;
  follow_.give_in_order(thief, tasks_[child].place, {item::kind::overtaken, t});
  tell_of_gift(&w, thief);
}

/// `from`: whom it takes time; null if it is no worker.
inline void frames::give(worker* from, std::uint32_t to, item i) {
  follow_.give(to, i);
  tell_of_gift(from, to);
}

inline void frames::tell_of_gift(worker* from, std::uint32_t to) {
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

inline std::uint32_t frames::last_child(std::uint32_t t) const noexcept {
  stage const& now = program_.stage_at(t, tasks_[t].stage);
  return now.first_child + now.children - 1;
}

inline std::uint32_t frames::successor(std::uint32_t t, std::uint32_t w) const noexcept {
  std::uint32_t const told = follow_.after_join(tasks_[last_child(t)].place);
  return told == none ? w : told;
}

inline void frames::submit_next_run() {
  item const next{item::kind::next_run, none};
  if (follow_.active()) {
    give(nullptr, follow_.body_worker(), next);
  } else {
    submit(next);
  }
}

inline bool frames::follow_no_further() {
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
