// Balanced trees of tasks: the paper's `tree` and `stress` (Wool, Fig. 2 and sections 4 and 5.1).
#pragma once

#include <cstdint>
#include <string>

#include "heist/base/random.hpp"
#include "heist/sim/duration.hpp"
#include "heist/sim/program.hpp"
#include "heist/sim/program_builder.hpp"

namespace heist::sim {

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
inline program balanced_tree(balanced_tree_options const& wanted, std::string name = "tree") {
  if (wanted.branching == 0 || wanted.rounds == 0)
    detail::fail("a tree with branching {} in {} rounds; mend it by at least 1 of both", wanted.branching,
                 wanted.rounds);
  std::uint64_t width_of_level = 1, tasks = 1;
  for (std::uint32_t level = 0; level != wanted.depth && tasks <= most_tasks; ++level) {
    width_of_level *= wanted.branching;
    tasks += width_of_level;
  }
  if (tasks > most_tasks)
    detail::fail("a tree of depth {} with branching {} has more than {} tasks; mend it by fewer or coarser ones",
                 wanted.depth, wanted.branching, most_tasks);
  program_builder b(std::move(name));
  fast_random random{wanted.seed};
  auto const region = b.add_region({"tree", 0, wanted.branching});
  std::uint32_t first = b.add_tree(region), width = 1;  // of a level
  for (std::uint32_t i = 1; i != wanted.rounds; ++i) b.again(first, region);
  std::uint64_t bytes = 0;
  for (std::uint32_t level = 0; level <= wanted.depth; ++level) {
    std::uint32_t const after = first + width;
    for (std::uint32_t t = first; t != after; ++t) {
      b.begin(t, 1);
      if (level == wanted.depth) {
        b.work(wanted.leaf.draw(random));
        b.touch(bytes, wanted.leaf_bytes, true);
        bytes += wanted.leaf_bytes;
      } else {
        b.work(wanted.inner.draw(random));
        b.fork(wanted.branching);
      }
    }
    first = after;
    width = static_cast<std::uint32_t>(b.task_count() - after);
  }
  b.set_region_bytes(region, bytes);
  return b.finish();
}

struct stress_options {
  std::uint32_t height = 10;      ///< d: forks between the root and a leaf
  std::uint64_t leaf = 256;       ///< n: iterations of a leaf's loop
  std::uint32_t repetitions = 1;  ///< r: trees, one after another
  ticks ticks_per_iteration = 2;  ///< the paper's: 2 cycles
  duration inner = fixed(0);      ///< what a task that is no leaf takes itself, scheduling excluded
};

/// `stress n d r`: a binary tree whose leaves compute and touch no memory.
inline program stress(stress_options const& wanted) {
  return balanced_tree({.depth = wanted.height,
                        .leaf = fixed(wanted.leaf * wanted.ticks_per_iteration),
                        .inner = wanted.inner,
                        .rounds = wanted.repetitions},
                       "stress");
}

}  // namespace heist::sim
