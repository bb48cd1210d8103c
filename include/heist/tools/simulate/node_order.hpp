// The order in which the nodes of a graph begin: the one of graph/layout.ipp, and alternatives.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <span>
#include <utility>  // pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// Which of the nodes that are ready a worker begins.
enum class node_order : std::uint8_t {
  connected,         ///< a stack; those that become ready together as they were connected
  longest_by_count,  ///< a stack; of those that become ready together the one with the most nodes on its way to the end
  longest_by_work,   ///< the same by the work on the way
  urgent_by_count,   ///< no stack: the most urgent node of the worker, or of a thief's victim (graphs with priorities)
  urgent_by_work
};

/// The order of a program's nodes, and what workers have ready where that is a list.
class ordered_nodes {
 public:
  ordered_nodes(program const& p, node_order how, std::size_t workers);

  /// The successors of a node, the wanted ones first.
  std::span<std::uint32_t const> successors(std::uint32_t node) const noexcept {
    return {successors_.data() + begin_[node], begin_[node + 1] - begin_[node]};
  }
  /// The nodes of a run without predecessors, the wanted ones first.
  std::vector<std::uint32_t> sources(run const& r) const;

  /// `worker` has made `node` ready, and pushes it.
  void pushed(std::uint32_t node, std::uint32_t worker);
  /// A worker that takes `node` begins the returned node instead.
  std::uint32_t taken(std::uint32_t node);

 private:
  bool is_urgent() const noexcept { return how_ >= node_order::urgent_by_count; }
  bool before(std::uint32_t a, std::uint32_t b) const noexcept { return way_[a] > way_[b]; }
  void find_ways(run const& r, program const& p);

  node_order how_;
  std::vector<std::size_t> begin_;
  std::vector<std::uint32_t> successors_;
  std::vector<ticks> way_;                                           // by node
  std::vector<std::uint32_t> holder_;                                // by node: the worker that has pushed it
  std::vector<std::vector<std::pair<ticks, std::uint32_t>>> ready_;  // by worker: heaps
  program const* program_;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/node_order.ipp"
#endif
