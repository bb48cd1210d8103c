// When a region's tasks return to the squads that ran them first, and not to those that ran them last. Ours: the papers on
// CAB and CATS do not speak of pages.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"

namespace heist::tier {

/// True if the workers are near the memory of more than one NUMA node.
inline bool on_several_nodes(topology::machine const& m, topology::squads const& s) noexcept {
  for (std::uint32_t const pu : s.pu_of_worker) {
    if (m.pus[pu].numa != m.pus[s.pu_of_worker.front()].numa) return true;
  }
  return false;
}

/// With several nodes, and more data than the squads' caches hold together, a task's data is in no cache when its next
/// run begins. It is in the memory of the squad that touched it first, so the task returns to that squad. Otherwise
/// the data may be in the cache of the squad that ran the task last. Where a size is unknown (0): otherwise.
constexpr bool returns_to_first_squad(bool several_nodes, std::size_t squads, std::uint64_t data_bytes,
                                      std::uint64_t shared_cache_bytes) noexcept {
  return several_nodes && shared_cache_bytes != 0 && data_bytes / squads > shared_cache_bytes;
}

}  // namespace heist::tier
