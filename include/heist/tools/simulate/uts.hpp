// Unbalanced tree search: trees whose shape follows from a hash (Olivier et al., LCPC 2006; Wool, section 5.1).
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

enum class uts_shape : std::uint8_t {
  binomial,  ///< a node has `children` with `probability`, otherwise none
  geometric  ///< the number of children is drawn geometrically, with mean `root_children`, up to `depth`
};

/// The defaults are the shape of the published tree T3, smaller.
struct uts_options {
  uts_shape shape = uts_shape::binomial;
  std::uint32_t root_children = 200;
  std::uint32_t children = 8;     ///< binomial: of a node that has some
  double probability = 0.124875;  ///< binomial: that it has; times `children` below 1, or the tree does not end
  std::uint32_t depth = 10;       ///< geometric: of the deepest nodes
  duration node = fixed(100);     ///< work of a node
  std::uint64_t seed = 42;        ///< another tree; its hash is not the published one's, so neither is its size
};

/// Each node is a task that forks its children at once. Throws sim_error for more than most_tasks nodes.
program uts(uts_options const& wanted);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/uts.ipp"
#endif
