// Bodies of task_graphs.hpp.
#pragma once

#include "heist/tools/simulate/task_graphs.hpp"

#include <algorithm>  // find
#include <vector>

#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/program_builder.hpp"

namespace heist::sim {

namespace detail {

/// A graph whose nodes all work alike.
HEIST_COLD_BODY std::uint32_t add_nodes(program_builder& b, std::uint32_t nodes, std::uint32_t rounds, duration work,
                                        std::uint64_t seed) {
  std::uint32_t const first = b.add_graph(nodes, rounds);
  fast_random random{seed};
  for (std::uint32_t i = 0; i != nodes; ++i) {
    b.begin(first + i);
    b.work(work.draw(random));
  }
  return first;
}

}  // namespace detail

HEIST_COLD_BODY program chain(chain_options const& wanted) {
  program_builder b("chain");
  std::uint32_t const first = detail::add_nodes(b, wanted.nodes, wanted.rounds, wanted.work, wanted.seed);
  for (std::uint32_t i = 1; i < wanted.nodes; ++i) b.precede(first + i - 1, first + i);
  return b.finish();
}

HEIST_COLD_BODY program tree_graph(tree_graph_options const& wanted) {
  if (wanted.depth > 24) detail::fail("a tree of depth {} is too large; fix it by a depth of at most 24", wanted.depth);
  program_builder b("binary tree");
  std::uint32_t const nodes = (std::uint32_t{2} << wanted.depth) - 1;
  std::uint32_t const first = detail::add_nodes(b, nodes, wanted.rounds, wanted.work, wanted.seed);
  for (std::uint32_t i = 1; i < nodes; ++i) b.precede(first + (i - 1) / 2, first + i);
  return b.finish();
}

HEIST_COLD_BODY program random_graph(random_graph_options const& wanted) {
  program_builder b("random graph");
  std::uint32_t const first = detail::add_nodes(b, wanted.nodes, wanted.rounds, wanted.work, wanted.seed);
  fast_random random{wanted.seed ^ 0x5bd1e995};
  std::vector<std::uint32_t> successors(wanted.nodes), open{0};  // open: that may have more
  if (wanted.degree == 0) return b.finish();
  for (std::uint32_t i = 1; i < wanted.nodes; ++i) {
    std::vector<std::uint32_t> chosen;
    std::uint32_t const edges = 1 + random.below(wanted.degree);
    for (std::uint32_t e = 0; e != edges && !open.empty(); ++e) {
      std::uint32_t const place = random.below(static_cast<std::uint32_t>(open.size()));
      std::uint32_t const before = open[place];
      if (std::find(chosen.begin(), chosen.end(), before) != chosen.end()) continue;
      chosen.push_back(before);
      b.precede(first + before, first + i);
      if (++successors[before] == wanted.degree) {
        open[place] = open.back();
        open.pop_back();
      }
    }
    open.push_back(i);
  }
  return b.finish();
}

HEIST_COLD_BODY program wavefront(wavefront_options const& wanted) {
  if (wanted.side > 4096) detail::fail("a square of side {} is too large; fix it by at most 4096", wanted.side);
  program_builder b("wavefront");
  std::uint32_t const n = wanted.side;
  std::uint32_t const first = detail::add_nodes(b, n * n, wanted.rounds, wanted.work, wanted.seed);
  for (std::uint32_t i = 0; i != n; ++i) {
    for (std::uint32_t j = 0; j != n; ++j) {
      std::uint32_t const at = first + i * n + j;
      if (i != 0) b.precede(at - n, at);
      if (j != 0) b.precede(at - 1, at);
    }
  }
  return b.finish();
}

}  // namespace heist::sim
