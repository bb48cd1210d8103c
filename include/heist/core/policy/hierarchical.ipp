// Bodies of hierarchical.hpp.
#pragma once

#include "heist/core/policy/hierarchical.hpp"

#include <new>  // bad_alloc

#include "heist/core/base/vector.hpp"

namespace heist::victim {

HEIST_COLD_BODY std::uint64_t distance(topology::machine const& m, std::size_t nodes, topology::pu const& from,
                                       topology::pu const& to) noexcept {
  auto const share = [&](std::int32_t topology::pu::*level) { return from.*level >= 0 && from.*level == to.*level; };
  if (share(&topology::pu::core)) return 1;
  if (share(&topology::pu::l2)) return 3;
  if (share(&topology::pu::l3)) return 5;
  if (from.numa >= 0 && to.numa >= 0 && from.numa != to.numa) {
    auto const place = static_cast<std::size_t>(from.numa) * nodes + static_cast<std::size_t>(to.numa);
    std::uint64_t const told = m.numa_distances.size() == nodes * nodes ? m.numa_distances[place] : 0;
    if (told == 0) return 20;
    return told < 1 << 20 ? told : 1 << 20;
  }
  return from.package == to.package ? 10 : 20;
}

HEIST_COLD_BODY void hierarchical::place(thief_view const& me, topology::machine const& m,
                                         topology::squads const& s) noexcept {
  order_.clear();
  if (s.members.size() < 2 || s.squad_of.size() != me.workers) return;
  try {
    put_in_order(me, m, s);
  } catch (std::bad_alloc const&) {
    order_.clear();
  }
  go_to_scheduler();
}

HEIST_COLD_BODY std::uint32_t hierarchical::next(thief_view const& me, fast_random& random) noexcept {
  if (order_.size() != me.workers || ++named_ % look_elsewhere == 0) return random.below(me.workers);
  if (left_ == 0 && ring_ + 1 != rings_) left_ = cycles_[++ring_].patience;
  --left_;
  return order_[random.below(cycles_[ring_].workers)];
}

HEIST_COLD_BODY void hierarchical::feedback(std::uint32_t, outcome what) noexcept {
  if (what == outcome::stolen) go_to_scheduler();
}

HEIST_COLD_BODY void hierarchical::go_to_scheduler() noexcept {
  ring_ = 0;
  left_ = cycles_[0].patience;
}

HEIST_COLD_BODY void hierarchical::put_in_order(thief_view const& me, topology::machine const& m,
                                                topology::squads const& s) {
  std::uint32_t const scheduler = s.squad_of[me.self];
  std::size_t const nodes = m.numa_count();
  auto const to = [&](std::uint32_t worker) {
    return distance(m, nodes, m.pus[s.pu_of_worker[me.self]], m.pus[s.pu_of_worker[worker]]);
  };
  std::uint64_t across = 1;  // the own squad
  for (std::uint32_t const w : s.members[scheduler]) across = to(w) > across ? to(w) : across;
  detail::vector<neighbour> near;
  near.push_back({0, scheduler});
  for (std::uint32_t squad = 0; squad != s.members.size(); ++squad) {
    if (squad == scheduler) continue;
    std::uint64_t least = ~std::uint64_t{0};
    for (std::uint32_t const w : s.members[squad]) least = to(w) < least ? to(w) : least;
    std::uint64_t const distance = least > across ? least : across;
    neighbour const* at = near.end();
    while (at - 1 != near.begin() && (at - 1)->distance > distance) --at;
    near.insert(at, {distance, squad});
  }

  order_.reserve(me.workers);
  rings_ = 1;
  std::uint64_t distance = across;  // to the last ring
  for (neighbour const& n : near) {
    auto const there = static_cast<std::uint32_t>(order_.size());
    bool const farther = n.distance != distance || there == s.members[scheduler].size();
    if (there > 1 && farther && rings_ != most_rings) {  // a thief alone has no victim
      std::uint64_t const enough = there * n.distance / distance;
      std::uint32_t const most = there > most_patience ? there : most_patience;
      cycles_[rings_ - 1] = {there, enough < most ? static_cast<std::uint32_t>(enough) : most};
      ++rings_;
    }
    distance = n.distance > across ? n.distance : across;
    for (std::uint32_t const w : s.members[n.squad]) order_.push_back(w);
  }
  cycles_[rings_ - 1] = {me.workers, 0};
}

}  // namespace heist::victim
