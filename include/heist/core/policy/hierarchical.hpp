// Near squads first: a thief looks farther away the longer it finds nothing.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/random.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"

namespace heist::victim {

/// How far it is from one PU to another, in the unit of machine::numa_distances: 10 is one's own NUMA node. Between
/// nodes it is the value in the machine's description, else 20; within a node less if they share a cache. `nodes` is
/// m.numa_count().
std::uint64_t distance(topology::machine const& m, std::size_t nodes, topology::pu const& from,
                       topology::pu const& to) noexcept;

/// After each steal a thief draws from its own squad. When it has failed often enough, it draws from the nearest squads
/// too, and so on, until it draws from every worker with the same probability. The number of failures that suffices:
/// one for each worker that it draws from, times the ratio of the distances of the next squads and these, but at most
/// `most_patience` or one each. It goes on as widely as it ended if its search is broken off.
///
/// Work nearby could hide workers far away for ever, so every 64th time it draws from every worker (V2). The injection
/// queue, its own number, belongs to its squad.
///
/// It is `random` without place(), on a machine of one squad, and without memory.
///
/// Cost  place(): O(workers), and it allocates; 4 bytes for each worker stay. next(): `random`, two counters and two
///       loads.
class hierarchical {
 public:
  void place(thief_view const& me, topology::machine const& m, topology::squads const& s) noexcept;
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept;

  void feedback(std::uint32_t, outcome what) noexcept;

 private:
  static constexpr std::uint32_t look_elsewhere = 64;
  static constexpr std::uint32_t most_patience = 32;  // a search of some dozens of attempts is to get round
  static constexpr std::size_t most_rings = 8;        // beyond them squads are equally far

  /// A circle around the thief.
  struct cycle {
    std::uint32_t workers;   ///< within it: so many of order_, from its beginning
    std::uint32_t patience;  ///< failed attempts until it is time for the next
  };
  /// A squad as the thief sees it.
  struct neighbour {
    std::uint64_t distance;  ///< to the nearest of its workers
    std::uint32_t squad;
  };

  void go_to_scheduler() noexcept;

  /// Throws bad_alloc.
  void put_in_order(thief_view const& me, topology::machine const& m, topology::squads const& s);

  detail::vector<std::uint32_t> order_;  // near ones first; empty: as random
  std::array<cycle, most_rings> cycles_{};
  std::uint32_t rings_ = 1, ring_ = 0;  // how many, and which one it draws from
  std::uint32_t left_ = 0;              // attempts in it
  std::uint32_t named_ = 0;
};

static_assert(whole_victim_policy<hierarchical> && placed_policy<hierarchical>);

}  // namespace heist::victim

#if HEIST_HEADER_ONLY
#include "heist/core/policy/hierarchical.ipp"
#endif
