// Bodies of uts.hpp.
#pragma once

#include "heist/tools/simulate/uts.hpp"

#include <cmath>  // floor, log
#include <vector>

#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/program_builder.hpp"

namespace heist::sim {

namespace detail {

/// The finalizer of splitmix64.
HEIST_COLD_BODY std::uint64_t hashed(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

HEIST_COLD_BODY std::uint32_t uts_children(uts_options const& o, std::uint64_t hash, std::uint32_t depth) noexcept {
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

HEIST_COLD_BODY program uts(uts_options const& wanted) {
  if (wanted.shape == uts_shape::binomial && !(wanted.probability * wanted.children < 1))
    detail::fail(
        "a node of the tree has {} children on average, so it does not end; fix it by a probability below 1/{}",
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
