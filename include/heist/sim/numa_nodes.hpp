// The memory of a simulated machine's NUMA nodes: which node a page is in, and how many bytes a node can deliver.
#pragma once

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <cstdint>
#include <utility>  // exchange, move
#include <vector>

#include "heist/sim/duration.hpp"
#include "heist/sim/options.hpp"
#include "heist/sim/page_homes.hpp"
#include "heist/sim/sim_error.hpp"
#include "heist/topology/machine.hpp"
#include "heist/topology/squads.hpp"

namespace heist::sim {

/// Which NUMA node each worker is on. A PU that the machine's description puts nowhere is on node 0.
inline std::vector<std::uint32_t> nodes_of_workers(topology::machine const& m, topology::squads const& s) {
  std::vector<std::uint32_t> nodes;
  nodes.reserve(s.pu_of_worker.size());
  for (std::uint32_t const pu : s.pu_of_worker)
    nodes.push_back(m.pus[pu].numa < 0 ? 0 : static_cast<std::uint32_t>(m.pus[pu].numa));
  return nodes;
}

/// Each node's memory serves one line after another, and so does the link over which its lines go to other nodes. All
/// that a stage fetches is ordered at its start; who comes later waits until that has been served. A line that is
/// fetched to be written is written back later: it is served twice.
class numa_nodes {
 public:
  /// `count`: of the machine, one more than the greatest of `node_of`.
  numa_nodes(options const& wanted, std::uint32_t count, std::vector<std::uint32_t> node_of)
      : wanted_{wanted.numa}, block_bytes_{wanted.caches.block_bytes}, node_of_{std::move(node_of)}, count_{count} {
    if (!enabled()) return;
    if (wanted_.page_bytes == 0 || wanted_.page_bytes % block_bytes_ != 0)
      detail::fail(
          "pages of {} bytes and blocks of {}; mend it by options::numa.page_bytes, usually 4096, which is a multiple "
          "of caches.block_bytes",
          wanted_.page_bytes, block_bytes_);
    if (wanted_.homes != nullptr && wanted_.homes->page_bytes != wanted_.page_bytes)
      detail::fail(
          "the homes are of pages of {} bytes, but pages have {}; mend it by the same options::numa.page_bytes",
          wanted_.homes->page_bytes, wanted_.page_bytes);
    if (wanted_.homes != nullptr) {
      for (auto const& [page, node] : wanted_.homes->nodes) {
        if (node >= count_)
          detail::fail("page {} is on node {}, but the machine has {}; mend it by homes of the same machine", page,
                       node, count_);
      }
    }
    node_queues_.resize(count_);
    link_queues_.resize(count_);
  }

  bool enabled() const noexcept { return wanted_.pages != page_placement::ignored; }

  /// The program's next blocks: so many from the block with this number in its address space on; ascending.
  void add_blocks(std::uint64_t first, std::uint64_t count) {
    if (!enabled()) return;
    for (std::uint64_t block = first; block != first + count; ++block) {
      std::uint64_t const page = block * block_bytes_ / wanted_.page_bytes;
      if (numbers_.empty() || numbers_.back() != page) {
        numbers_.push_back(page);
        homes_.push_back(wanted_.homes == nullptr ? page_homes::nowhere : wanted_.homes->node_of(block * block_bytes_));
      }
      page_of_block_.push_back(static_cast<std::uint32_t>(numbers_.size() - 1));
    }
  }

  /// Worker `w` fetches a block of so many lines from memory. True if it is far.
  bool fetch(std::uint32_t w, std::uint32_t block, std::uint64_t bytes, bool writes) noexcept {
    std::uint32_t const near = node_of_[w], page = page_of_block_[block];
    std::uint32_t& home = homes_[page];
    if (home == page_homes::nowhere)
      home = wanted_.pages == page_placement::first_touch ? near : static_cast<std::uint32_t>(numbers_[page] % count_);
    node_queues_[home].ordered += writes ? 2 * bytes : bytes;
    if (home == near) return false;
    link_queues_[home].ordered += bytes;
    if (writes) link_queues_[near].ordered += bytes;
    return true;
  }

  /// How long a stage waits that began now, has fetched all that it fetches, and would wait so long if nobody else did.
  ticks served(ticks now, ticks alone) noexcept {
    if (!enabled()) return alone;
    ticks longest = alone;
    for (std::uint32_t n = 0; n != count_; ++n) {
      longest = std::max({longest, node_queues_[n].serve(now, wanted_.node_bandwidth),
                          link_queues_[n].serve(now, wanted_.link_bandwidth)});
    }
    return longest;
  }

  page_homes homes() const {
    page_homes all{wanted_.page_bytes, {}};
    for (std::size_t i = 0; i != homes_.size(); ++i)
      if (homes_[i] != page_homes::nowhere) all.nodes.emplace_back(numbers_[i], homes_[i]);
    return all;
  }

 private:
  struct queue {
    std::uint64_t ordered = 0;  ///< bytes, by the present stage
    std::uint64_t free = 0;     ///< when all that was ordered before has been served; thousandths of a tick

    /// When the present stage has been served, from now on.
    ticks serve(ticks now, std::uint64_t bandwidth) noexcept {
      if (ordered == 0) return 0;
      std::uint64_t const bytes = std::exchange(ordered, 0);
      if (bandwidth == 0) return 0;
      free = std::max(free, now * 1000) + bytes * 1'000'000 / bandwidth;
      return (free + 999) / 1000 - now;
    }
  };

  numa const wanted_;
  std::uint64_t const block_bytes_;
  std::vector<std::uint32_t> const node_of_;
  std::uint32_t const count_;
  std::vector<std::uint64_t> numbers_;  ///< of pages that blocks are in
  std::vector<std::uint32_t> homes_;    ///< their nodes
  std::vector<std::uint32_t> page_of_block_;
  std::vector<queue> node_queues_, link_queues_;
};

}  // namespace heist::sim
