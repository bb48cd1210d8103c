// The machine of the CAB and CATS papers, their programs, and the schedulers that the papers compare.
#pragma once

#include <heist/policy.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "halves_or_quarters.hpp"
#include "report.hpp"

namespace papers::opteron {

/// Four Opteron 8380 at 2.5 GHz. Each has four cores with 512 KiB of L2 each, and a shared L3 of 6 MiB.
inline constexpr std::string_view description = "package:4 l3:1(size=6MiB) l2:4(size=512KiB) core:1 pu:1";

/// MIT Cilk with pinned workers (Cilk-a): random victims, child-first.
using cilk = heist::policy::with_order<heist::policy::random, heist::order::child_first>;
using heist::policy::cab;
using heist::policy::cats;
/// As published: the region does not remember which squad ran each task in the step before.
using literal_cab = heist::policy::without_memory<cab>;
using literal_cats = heist::policy::without_memory<cats>;

/// Costs in nanoseconds. The papers give no latencies. A line from L3 costs 18, which is 45 cycles. A line from the
/// memory of any socket costs 90. Scheduling has the simulator's default costs.
inline heist::sim::costs costs() {
  heist::sim::costs c;
  c.private_hit = 2;
  c.shared_hit = 18;
  c.memory = 90;
  return c;
}

template <class Policy>
heist::sim::report simulate(heist::sim::program const& p, std::uint64_t seed,
                            std::optional<std::uint32_t> boundary_level = std::nullopt,
                            heist::sim::costs const& of_machine = costs()) {
  heist::sim::options o{.workers = 16, .machine = heist::topology::parse(description), .seed = seed};
  o.squads = heist::squad_by::package;
  o.costs = of_machine;
  o.caches.block_bytes = 1024;
  o.boundary_level = boundary_level;
  return heist::simulate<Policy>(p, o);
}

/// Means of several seeds.
struct figures {
  double time = 0, l2 = 0, l3 = 0;  ///< ticks; misses of the private and of the shared caches
};

template <class Policy>
figures mean(request const& wanted, heist::sim::program const& p,
             std::optional<std::uint32_t> boundary_level = std::nullopt,
             heist::sim::costs const& of_machine = costs()) {
  figures sum;
  for (unsigned round = 0; round < wanted.rounds; ++round) {
    auto const r = simulate<Policy>(p, wanted.seed + round, boundary_level, of_machine);
    sum.time += static_cast<double>(r.makespan) / wanted.rounds;
    sum.l2 += static_cast<double>(r.cache.shared_hits + r.cache.memory) / wanted.rounds;
    sum.l3 += static_cast<double>(r.cache.memory) / wanted.rounds;
  }
  return sum;
}

/// The savings of one scheduler relative to a base scheduler, as shares of the base.
struct savings {
  double time, l2, l3;
};

inline savings saved_by(figures const& better, figures const& base) {
  return {saved(base.time, better.time), saved(base.l2, better.l2), saved(base.l3, better.l3)};
}

inline heist::sim::program heat(shape const& s) {
  return heist::sim::heat({.rows = s.rows,
                           .columns = s.columns,
                           .steps = s.steps,
                           .leaf_rows = s.leaf_rows,
                           .element_bytes = s.element_bytes,
                           .ticks_per_element = ticks_per_element});
}

inline heist::sim::program sor(shape const& s) {
  return heist::sim::sor({.rows = s.rows,
                          .columns = s.columns,
                          .steps = s.steps,
                          .leaf_rows = s.leaf_rows,
                          .element_bytes = s.element_bytes,
                          .ticks_per_element = ticks_per_element});
}

inline heist::sim::program ge(shape const& s) {
  return heist::sim::gauss_elimination({.rows = s.rows,
                                        .columns = s.columns,
                                        .leaf_rows = s.leaf_rows,
                                        .element_bytes = s.element_bytes,
                                        .ticks_per_element = ticks_per_element});
}

}  // namespace papers::opteron
