// Task graphs: chain, tree, random graph, wavefront (the micro-benchmarks of the adaptive scheduler's paper).
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/random.hpp"
#include "heist/tools/simulate/duration.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// What chain() makes.
struct chain_options {
  std::uint32_t nodes = 1000;
  duration work = fixed(1000);
  std::uint32_t rounds = 1;
  std::uint64_t seed = 1;
};
/// Each node waits for the one before.
program chain(chain_options const& wanted);

/// Parameters of tree_graph().
struct tree_graph_options {
  std::uint32_t depth = 10;  ///< edges from the root to a leaf, at most 24
  duration work = fixed(1000);
  std::uint32_t rounds = 1;
  std::uint64_t seed = 1;
};
/// A binary tree: both successors of a node wait for it.
program tree_graph(tree_graph_options const& wanted);

/// Parameters of random_graph().
struct random_graph_options {
  std::uint32_t nodes = 1000;
  std::uint32_t degree = 4;  ///< most predecessors, and most successors, of a node
  duration work = fixed(1000);
  std::uint32_t rounds = 1;
  std::uint64_t seed = 1;
};
/// Each node waits for 1 to `degree` nodes drawn from all earlier ones that have less than `degree` successors; the
/// first has no predecessor.
program random_graph(random_graph_options const& wanted);

/// Parameters of wavefront().
struct wavefront_options {
  std::uint32_t side = 32;  ///< nodes of a row, and rows; at most 4096
  duration work = fixed(1000);
  std::uint32_t rounds = 1;
  std::uint64_t seed = 1;
};
/// A square: each node waits for its neighbours above and to the left.
program wavefront(wavefront_options const& wanted);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/task_graphs.ipp"
#endif
