// The machine of the paper on constrained work stealing.
#pragma once

#include <heist/policy.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <cstdint>
#include <string_view>

namespace papers::e7_8860 {

/// Programs, their blocks and the caches are this many times smaller than the paper's.
inline constexpr std::uint64_t scale = 64;

/// Eight E7-8860 at 2.27 GHz. Each has ten cores with 256 KiB of L2 each, a shared L3 of 24 MiB, and its own memory.
/// The caches of the description are `scale` times smaller.
inline constexpr std::string_view description = "package:8 [numa] l3:1(size=384KiB) l2:10(size=4KiB) core:1 pu:1";

/// Cilk keeps all workers awake.
using cilk = heist::policy::with_idle<heist::policy::replay, heist::idle::spinning>;

/// Costs in nanoseconds. The page constrained.md, "Fig. 4", has their sources.
inline heist::sim::costs costs() {
  heist::sim::costs c;
  c.shared_hit = 3;
  c.memory = 14;
  c.far_memory = 23;
  return c;
}
inline constexpr std::uint64_t node_bandwidth = 19'000, link_bandwidth = 6'500;  // MB/s

/// The options of a simulation. `node_map` has the nodes of pages that an earlier program placed; null: none. `follow`
/// is the steal tree to follow; null: none.
struct setting {
  std::uint32_t workers = 1;
  std::uint64_t seed = 1;
  heist::sim::page_placement pages = heist::sim::page_placement::first_touch;
  heist::sim::page_node_map const* node_map = nullptr;
  heist::steal_tree const* follow = nullptr;
  heist::replay_mode mode = heist::replay_mode::relaxed;
  std::uint64_t links = link_bandwidth;
};

inline heist::sim::report simulate(heist::sim::program const& p, setting const& s) {
  heist::sim::options o{.workers = s.workers, .machine = heist::topology::parse(description), .seed = s.seed};
  o.squads = heist::squad_by::package;
  o.costs = costs();
  o.caches.block_bytes = 1024;
  o.numa = {.pages = s.pages, .node_map = s.node_map, .node_bandwidth = node_bandwidth, .link_bandwidth = s.links};
  o.follow = s.follow;
  o.mode = s.mode;
  return heist::simulate<cilk>(p, o);
}

}  // namespace papers::e7_8860
