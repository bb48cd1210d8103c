// Bodies of trees.hpp.
#pragma once

#include "heist/tools/simulate/trees.hpp"

#include "heist/core/base/random.hpp"
#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/program_builder.hpp"

namespace heist::sim {

HEIST_COLD_BODY program balanced_tree(balanced_tree_options const& wanted, std::string name) {
  if (wanted.branching == 0 || wanted.rounds == 0)
    detail::fail("a tree with branching {} in {} rounds; fix it by at least 1 of both", wanted.branching,
                 wanted.rounds);
  std::uint64_t width_of_level = 1, tasks = 1;
  for (std::uint32_t level = 0; level != wanted.depth && tasks <= most_tasks; ++level) {
    width_of_level *= wanted.branching;
    tasks += width_of_level;
  }
  if (tasks > most_tasks)
    detail::fail("a tree of depth {} with branching {} has more than {} tasks; fix it by fewer or coarser ones",
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

HEIST_COLD_BODY program stress(stress_options const& wanted) {
  return balanced_tree({.depth = wanted.height,
                        .leaf = fixed(wanted.leaf * wanted.ticks_per_iteration),
                        .inner = wanted.inner,
                        .rounds = wanted.repetitions},
                       "stress");
}

}  // namespace heist::sim
