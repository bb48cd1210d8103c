// Near squads first: a thief looks farther away the longer it finds nothing.
#pragma once

#include <algorithm>  // max, min, stable_sort
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <new>  // bad_alloc
#include <vector>

#include "heist/base/random.hpp"
#include "heist/policy/victim.hpp"
#include "heist/topology/machine.hpp"
#include "heist/topology/squads.hpp"

namespace heist::victim {

/// How far it is from one PU to another, in the unit of machine::numa_distances: 10 is one's own NUMA node. Between
/// nodes it is what the machine's description says, else 20; within a node less if they share a cache. `nodes` is
/// m.numa_count().
inline std::uint64_t distance(topology::machine const& m, std::size_t nodes, topology::pu const& from,
                              topology::pu const& to) noexcept {
  auto const share = [&](std::int32_t topology::pu::*level) { return from.*level >= 0 && from.*level == to.*level; };
  if (share(&topology::pu::core)) return 1;
  if (share(&topology::pu::l2)) return 3;
  if (share(&topology::pu::l3)) return 5;
  if (from.numa >= 0 && to.numa >= 0 && from.numa != to.numa) {
    auto const place = static_cast<std::size_t>(from.numa) * nodes + static_cast<std::size_t>(to.numa);
    std::uint64_t const told = m.numa_distances.size() == nodes * nodes ? m.numa_distances[place] : 0;
    return told != 0 ? std::min<std::uint64_t>(told, 1 << 20) : 20;
  }
  return from.package == to.package ? 10 : 20;
}

/// After each steal a thief draws from its own squad; when it has failed often enough, from the nearest squads too, and
/// so on, until it draws from everybody with the same probability. How often is enough: once for each worker that it
/// draws from, times the ratio of the distances of the next squads and these, but at most `most_patience` times or once
/// each. It goes on as widely as it ended if its search is broken off.
///
/// Those that are far away could be passed over for ever while there is something near, so every 64th time it draws
/// from everybody (V2). The master queue, its own number, belongs to its squad.
///
/// Without place(), on a machine of one squad, and without memory it is `random`.
///
/// Cost  place(): O(workers), and it allocates; 4 bytes for each worker stay. next(): `random`, two counters and two
///       loads.
class hierarchical {
 public:
  void place(thief_view const& me, topology::machine const& m, topology::squads const& s) noexcept {
    order_.clear();
    if (s.members.size() < 2 || s.squad_of.size() != me.workers) return;
    try {
      put_in_order(me, m, s);
    } catch (std::bad_alloc const&) {
      order_.clear();
    }
    go_home();
  }

  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    if (order_.size() != me.workers || ++named_ % look_away == 0) return random.below(me.workers);
    if (left_ == 0 && ring_ + 1 != rings_) left_ = reach_[++ring_].patience;
    --left_;
    return order_[random.below(reach_[ring_].workers)];
  }

  void feedback(std::uint32_t, outcome what) noexcept {
    if (what == outcome::stolen) go_home();
  }

 private:
  static constexpr std::uint32_t look_away = 64;
  static constexpr std::uint32_t most_patience = 32;  // a search of some dozens of attempts is to get round
  static constexpr std::size_t most_rings = 8;        // beyond them squads are equally far

  /// A circle around the thief.
  struct circle {
    std::uint32_t workers;   ///< within it: so many of order_, from its beginning
    std::uint32_t patience;  ///< failed attempts until it is time for the next
  };
  /// A squad as the thief sees it.
  struct neighbour {
    std::uint64_t away;  ///< to the nearest of its workers
    std::uint32_t squad;
  };

  void go_home() noexcept {
    ring_ = 0;
    left_ = reach_[0].patience;
  }

  /// Throws bad_alloc.
  void put_in_order(thief_view const& me, topology::machine const& m, topology::squads const& s) {
    std::uint32_t const home = s.squad_of[me.self];
    std::size_t const nodes = m.numa_count();
    auto const to = [&](std::uint32_t worker) {
      return distance(m, nodes, m.pus[s.pu_of_worker[me.self]], m.pus[s.pu_of_worker[worker]]);
    };
    std::uint64_t across = 1;  // the own squad
    for (std::uint32_t const w : s.members[home]) across = std::max(across, to(w));
    std::vector<neighbour> near;
    near.push_back({0, home});
    for (std::uint32_t squad = 0; squad != s.members.size(); ++squad) {
      if (squad == home) continue;
      std::uint64_t least = ~std::uint64_t{0};
      for (std::uint32_t const w : s.members[squad]) least = std::min(least, to(w));
      near.push_back({std::max(least, across), squad});
    }
    std::stable_sort(near.begin() + 1, near.end(),
                     [](neighbour const& a, neighbour const& b) { return a.away < b.away; });

    order_.reserve(me.workers);
    rings_ = 1;
    std::uint64_t away = across;  // to the last ring
    for (neighbour const& n : near) {
      auto const there = static_cast<std::uint32_t>(order_.size());
      bool const farther = n.away != away || there == s.members[home].size();
      if (there > 1 && farther && rings_ != most_rings) {  // a thief alone has nobody to rob
        auto const enough = there * n.away / away;
        reach_[rings_ - 1] = {
            there, static_cast<std::uint32_t>(std::min<std::uint64_t>(enough, std::max(there, most_patience)))};
        ++rings_;
      }
      away = std::max(n.away, across);
      for (std::uint32_t const w : s.members[n.squad]) order_.push_back(w);
    }
    reach_[rings_ - 1] = {me.workers, 0};
  }

  std::vector<std::uint32_t> order_;  // near ones first; empty: as random
  std::array<circle, most_rings> reach_{};
  std::uint32_t rings_ = 1, ring_ = 0;  // how many, and which one it draws from
  std::uint32_t left_ = 0;              // attempts in it
  std::uint32_t named_ = 0;
};

static_assert(whole_victim_policy<hierarchical> && placed_policy<hierarchical>);

}  // namespace heist::victim
