// An executor's workers as squads, and what their cores count. Bodies of core's squad members.
#pragma once

#include <string>
#include <utility>  // move

#include "heist/sched/core.hpp"

namespace heist::detail {

/// One squad for each of the machine's, each with a gate, all in one ring; or one gate for all.
HEIST_COLD_BODY void core::make_squads(idle_rules rules) {
  if (tiers == tiering::none) {
    gate_ = std::make_unique<idle_gate<>>(worker_count, rules);
    door_ = gate_.get();
    for (auto& w : workers) w->gate = door_;
    return;
  }
  auto const& placed = where.squads();
  squad_cache_bytes_ = topology::shared_cache_bytes(where.machine(), placed);
  squads.make(placed.members.size(), worker_count, rules);
  squad_members_.resize(squads.size());
  for (std::size_t s = 0; s < squads.size(); ++s) {
    for (std::uint32_t const number : placed.members[s]) {
      worker& w = *workers[number];
      w.in = &squads[s];
      w.gate = &w.in->gate;
      w.mates = &squad_members_[s];
      w.head = number == placed.head[s];
      w.place = static_cast<std::uint32_t>(squad_members_[s].size());
      squad_members_[s].push_back(&w);
    }
  }
  door_ = &squads[0].gate;
}

HEIST_COLD_BODY void core::release_squad(worker& w, squad_task& task) noexcept {
  if (!task.holds) return;
  task.holds = false;
  squads.release(*task.in, w.head && w.in == task.in);
}

HEIST_COLD_BODY pooled_runnable* core::take_inter(worker& w) noexcept {
  w.takes_beside = false;
  return squads.head_take(*w.in, w.random.below(static_cast<std::uint32_t>(squads.size())));
}

HEIST_COLD_BODY counter_values core::read_counters(worker& w) noexcept {
  if (counters_ == nullptr) return {};
  if (!w.counters) {
    try {
      counter_handle made{counters_};
      std::string why_not = made.why();
      w.counters = std::move(made);
      spin_guard guard{lock_};
      if (!counters_known_) {
        counters_known_ = true;
        counters_available_ = w.counters.available();
        counters_why_not_ = std::move(why_not);
      }
    } catch (...) {  // no memory
      return {};
    }
  }
  return w.counters.read();
}

}  // namespace heist::detail
