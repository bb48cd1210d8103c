// The caches of a simulated machine and their costs: one for each worker, one for each squad, and memory behind.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/random.hpp"
#include "heist/tools/simulate/bandwidth_queue.hpp"
#include "heist/tools/simulate/costs.hpp"
#include "heist/tools/simulate/lru_cache.hpp"
#include "heist/tools/simulate/numa_nodes.hpp"
#include "heist/tools/simulate/options.hpp"
#include "heist/tools/simulate/program.hpp"
#include "heist/tools/simulate/report.hpp"

namespace heist::sim {

/// How large the caches are, in bytes; 0: there is none.
struct cache_sizes {
  std::uint64_t of_worker = 0, of_squad = 0;
};

/// The sizes in the options, or else the machine's.
cache_sizes cache_sizes_of(options const& wanted, topology::machine const& m, topology::squads const& s);

namespace detail {
/// Hypervisors tell of caches that no machine has: of this machine's, at most 32 MiB count for each worker.
constexpr std::uint64_t credible_cache(std::uint64_t told, std::size_t workers) {
  std::uint64_t const most = workers * (std::uint64_t{32} << 20);
  return told < most ? told : most;
}
}  // namespace detail

/// A write makes a new version of a block. A copy of an older version counts as absent when it is read, as if the
/// hardware had invalidated it. Each touch happens at one moment: the start of its stage. With costs::transfer, the
/// *side* of a block is the squad that has touched it last, or the worker if squads share no cache. An access by
/// another side is a transfer. A write costs as much if another side still has a copy, because that copy has to go.
///
/// Cost  for each block touched two searches in hash tables.
class memory {
 public:
  static constexpr std::uint64_t line_bytes = 64;

  /// `node_of`: the node of each worker, of `nodes`; not needed without options::numa.
  memory(program const& p, options const& wanted, cache_sizes sizes, std::vector<std::uint32_t> const& squad_of,
         std::size_t squads, std::uint32_t nodes = 0, std::vector<std::uint32_t> node_of = {});

  /// Worker `w` touches a piece of memory. Returns the cost, and counts the hits and misses in `seen`. When a stage has
  /// touched all of its memory, waiting_time() follows.
  ticks access(std::uint32_t w, std::uint32_t touch, cache_misses& seen, fast_random& random);
  /// The time for which a stage of worker `w` waits that has begun now: `alone` is the cost of all its accesses.
  ticks waiting_time(std::uint32_t w, ticks now, ticks alone) noexcept;

  /// Where the pages are that have been touched; none without options::numa.
  std::optional<page_node_map> node_map() const {
    return nodes_.enabled() && enabled_ ? std::optional{nodes_.node_map()} : std::nullopt;
  }

 private:
  struct placed {
    std::uint32_t first, blocks;
    bool writes;
  };

  ticks cost(duration each, std::uint64_t blocks, fast_random& random) const noexcept {
    if (each.mean == 0 || blocks == 0) return 0;
    return duration{each.mean * lines_ * blocks / costs_.line_parts, each.law}.draw(random);
  }

  /// Does the block come out of caches of another side? It is on side `side` afterwards.
  bool is_transfer(std::uint32_t block, std::uint32_t side) noexcept;

  /// Gives the blocks that are touched numbers without gaps.
  void number_blocks(program const& p, std::uint64_t block);

  costs const& costs_;
  std::vector<std::uint32_t> const& squad_of_;
  bool enabled_;
  std::uint64_t block_bytes_;
  numa_nodes nodes_;
  std::uint64_t lines_ = 1;  ///< in a block
  std::vector<placed> touches_;
  std::vector<std::uint32_t> versions_;  ///< of every block
  std::vector<std::uint32_t> sides_;     ///< of every block, 0: none yet; empty without costs::transfer
  std::vector<lru_cache> own_, shared_;
  std::uint64_t const shared_bandwidth_, memory_bandwidth_;
  std::vector<bandwidth_queue> shared_queues_;  ///< of every squad
  bandwidth_queue memory_queue_;                ///< without options::numa
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/memory.ipp"
#endif
