// The memory of a simulated machine's NUMA nodes: which node a page is in, and how many bytes a node can deliver.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"
#include "heist/tools/simulate/bandwidth_queue.hpp"
#include "heist/tools/simulate/duration.hpp"
#include "heist/tools/simulate/options.hpp"
#include "heist/tools/simulate/page_node_map.hpp"

namespace heist::sim {

/// Which NUMA node each worker is on. A PU that the machine's description puts nowhere is on node 0.
std::vector<std::uint32_t> nodes_of_workers(topology::machine const& m, topology::squads const& s);

/// Each node's memory serves one line after another, and so do the links over which lines go to other nodes and come
/// from them. A stage orders all its lines at its start; a later stage waits until these have been served. A line that
/// is fetched for writing is written back later: it is served twice.
class numa_nodes {
 public:
  /// `count`: of the machine, one more than the greatest of `node_of`.
  numa_nodes(options const& wanted, std::uint32_t count, std::vector<std::uint32_t> node_of);

  bool enabled() const noexcept { return wanted_.pages != page_placement::ignored; }

  /// The program's next blocks: so many from the block with this number in its address space on; ascending.
  void add_blocks(std::uint64_t first, std::uint64_t count);

  /// Worker `w` fetches a block of so many lines from memory. True if it is far.
  bool fetch(std::uint32_t w, std::uint32_t block, std::uint64_t bytes, bool writes) noexcept;

  /// The time for which a stage waits that began now and has fetched all its lines. `alone`: the same without other
  /// stages.
  ticks waiting_time(ticks now, ticks alone) noexcept;

  page_node_map node_map() const;

 private:
  numa const wanted_;
  std::uint64_t const block_bytes_;
  std::vector<std::uint32_t> const node_of_;
  std::uint32_t const count_;
  std::vector<std::uint64_t> numbers_;   ///< of pages that blocks are in
  std::vector<std::uint32_t> node_map_;  ///< their nodes
  std::vector<std::uint32_t> page_of_block_;
  std::vector<bandwidth_queue> node_queues_, out_queues_, in_queues_;  ///< of every node: memory, links
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/numa_nodes.ipp"
#endif
