// The options of a simulation.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <vector>

#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/tools/simulate/costs.hpp"
#include "heist/tools/simulate/node_order.hpp"
#include "heist/tools/simulate/page_node_map.hpp"

namespace heist::sim {

/// The most workers that are simulated.
inline constexpr std::uint32_t most_workers = 4096;

/// The caches of the simulated machine: one for each worker and one for each squad, both fully associative, least
/// recently used.
struct caches {
  bool enabled = true;             ///< false: memory costs nothing and nothing is counted
  std::uint64_t block_bytes = 64;  ///< unit that a cache keeps or drops; costs count lines of 64 bytes nevertheless
  /// Of one worker. Default: the machine's L2 if it belongs to one core, otherwise its L1. 0: none.
  std::optional<std::uint64_t> private_bytes = std::nullopt;
  /// Of one squad. Default: topology::shared_cache_bytes, of this machine 32 MiB for each worker at most. 0: none.
  std::optional<std::uint64_t> shared_bytes = std::nullopt;
  /// Bandwidth of one squad's cache. It serves all lines that the squad's workers do not find in their own caches.
  /// Bandwidths are bytes in 1000 ticks, which is MB/s if a tick is a nanosecond; 0: no limit.
  std::uint64_t shared_bandwidth = 0;
  std::uint64_t memory_bandwidth = 0;  ///< bandwidth of all memory together; not used with options::numa
};

/// How one run of a program follows another.
enum class entry : std::uint8_t {
  inside,  ///< all of them in one task, as ctx.invoke(region, f) does
  outside  ///< each is submitted by a thread that is no worker, when the one before has ended
};

/// In which node's memory a page is.
enum class page_placement : std::uint8_t {
  ignored,      ///< all memory is near; caches::memory_bandwidth is its limit
  first_touch,  ///< the node of the worker whose stage touches it first
  interleaved   ///< one node after the other, by the page's number
};

/// The memory of the machine's NUMA nodes (topology::pu::numa). Bandwidths have the unit of caches::shared_bandwidth.
struct numa {
  page_placement pages = page_placement::ignored;
  std::uint64_t page_bytes = 4096;  ///< a multiple of caches::block_bytes
  page_node_map const* node_map =
      nullptr;                       ///< of pages that have been touched before: report::homes of another simulation
  std::uint64_t node_bandwidth = 0;  ///< bandwidth of the memory of one node
  std::uint64_t link_bandwidth = 0;  ///< bandwidth from one node to all other nodes, and from them to it
};

/// The workers, machine, costs and caches of a simulation.
struct options {
  std::uint32_t workers = 0;                                ///< 1 to most_workers; 0: one for each PU of the machine
  std::optional<topology::machine> machine = std::nullopt;  ///< default: as many cores as workers, without caches
  squad_by squads = squad_by::automatic;  ///< the workers that share a cache, and are a squad of policies with tiers
  std::vector<std::vector<std::uint32_t>> squad_pus = {};  ///< squads by hand, lists of PUs; overrides `squads`
  std::uint64_t seed = 1;                                  ///< the same seed gives the same report, bit for bit
  sim::costs costs = {};
  sim::caches caches = {};
  sim::numa numa = {};
  sim::entry entry = sim::entry::inside;
  node_order nodes = node_order::longest_by_count;             ///< of graphs; what the executor does
  std::optional<std::uint32_t> boundary_level = std::nullopt;  ///< CAB's, of every region; 0: traditional stealing
  std::size_t samples = 256;  ///< of report::series: at most so many, at least about half
  bool trace = false;         ///< report::recording; 32 bytes for each event
  /// Every run of a tree follows this one; needs a policy whose order is recorded. Worker i of the tree is worker i %
  /// workers. Must live until the simulation ends.
  steal_tree const* follow = nullptr;
  replay_mode mode = replay_mode::relaxed;
};

}  // namespace heist::sim
