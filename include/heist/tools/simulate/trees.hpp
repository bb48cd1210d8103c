// Balanced trees of tasks: the paper's `tree` and `stress` (Wool, Fig. 2 and sections 4 and 5.1).
#pragma once

#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/duration.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// Parameters of balanced_tree().
struct balanced_tree_options {
  std::uint32_t depth = 10;      ///< forks between the root and a leaf
  std::uint32_t branching = 2;   ///< children of every task that is no leaf
  duration leaf = fixed(1000);   ///< work of a leaf
  duration inner = fixed(0);     ///< work of every other task, before it forks
  std::uint64_t leaf_bytes = 0;  ///< memory of its own that each leaf reads and writes
  std::uint32_t rounds = 1;      ///< the same tree, one run after another, as one region
  std::uint64_t seed = 1;        ///< of durations that are not fixed
};

/// Every task forks `branching` children until `depth`. Throws sim_error for no children, no rounds, and more than
/// most_tasks tasks.
program balanced_tree(balanced_tree_options const& wanted, std::string name = "tree");

/// What stress() makes.
struct stress_options {
  std::uint32_t height = 10;      ///< d: forks between the root and a leaf
  std::uint64_t leaf = 256;       ///< n: iterations of a leaf's loop
  std::uint32_t repetitions = 1;  ///< r: trees, one after another
  ticks ticks_per_iteration = 2;  ///< the paper's: 2 cycles
  duration inner = fixed(0);      ///< own time of a task that is no leaf, scheduling excluded
};

/// `stress n d r`: a binary tree whose leaves compute and touch no memory.
program stress(stress_options const& wanted);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/trees.ipp"
#endif
