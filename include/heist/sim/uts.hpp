// Unbalanced tree search: trees whose shape follows from a hash (Olivier et al., LCPC 2006; Wool, section 5.1).
#pragma once

#include <cmath>  // floor, log
#include <cstdint>
#include <vector>

#include "heist/sim/program.hpp"
#include "heist/sim/program_builder.hpp"

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

namespace detail {

/// The finalizer of splitmix64.
inline std::uint64_t hashed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

inline std::uint32_t uts_children(uts_options const& o, std::uint64_t hash, std::uint32_t depth) noexcept {
  double const uniform = static_cast<double>(hash >> 11) * 0x1p-53;
  if (o.shape == uts_shape::binomial) return depth == 0 ? o.root_children : uniform < o.probability ? o.children : 0;
  if (depth == 0) return o.root_children;
  if (depth >= o.depth) return 0;
  double const p = 1.0 / (1.0 + static_cast<double>(o.root_children));
  constexpr double most = 1000;
  double const drawn = std::floor(std::log(1 - uniform) / std::log(1 - p));
  return static_cast<std::uint32_t>(drawn < most ? drawn : most);
}

}  // namespace detail

/// Each node is a task that forks its children at once. Throws sim_error for more than most_tasks nodes.
inline program uts(uts_options const& wanted) {
  if (wanted.shape == uts_shape::binomial && !(wanted.probability * wanted.children < 1))
    detail::fail(
        "a node of the tree has {} children on average, so it does not end; mend it by a probability below 1/{}",
        wanted.probability * wanted.children, wanted.children);
  program_builder b("uts");
  fast_random random{wanted.seed};
  struct node {
    std::uint32_t task, depth;
    std::uint64_t hash;
  };
  std::vector<node> open{{b.add_tree(), 0, detail::hashed(wanted.seed)}};
  while (!open.empty()) {
    node const n = open.back();
    open.pop_back();
    b.begin(n.task, 1);
    b.work(wanted.node.draw(random));
    std::uint32_t const children = detail::uts_children(wanted, n.hash, n.depth);
    if (children == 0) continue;
    std::uint32_t const first = b.fork(children);
    for (std::uint32_t i = children; i-- != 0;)
      open.push_back({first + i, n.depth + 1, detail::hashed(n.hash + i + 1)});
  }
  return b.finish();
}

}  // namespace heist::sim
