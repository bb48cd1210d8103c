// The graphs that every library is measured on: nodes 0 .. size-1 in topological order, and for each node the list of
// its predecessors. A shape knows no library; it is generated once, and each library builds its graph from it.
#pragma once

#include <algorithm>
#include <bit>  // bit_floor
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bench {

/// A directed acyclic graph as flat arrays; every predecessor has a smaller number than its successor.
struct shape {
  std::vector<std::uint32_t> first{0};      // predecessors of node i: edges[first[i] .. first[i + 1])
  std::vector<std::uint32_t> predecessors;  // all of them, node after node
  std::vector<std::uint32_t> roots;         // the nodes without predecessors

  std::size_t size() const noexcept { return first.size() - 1; }
  std::size_t edge_count() const noexcept { return predecessors.size(); }

  std::span<std::uint32_t const> predecessors_of(std::size_t node) const noexcept {
    return {predecessors.data() + first[node], predecessors.data() + first[node + 1]};
  }

  void edge_to_last(std::size_t from) { predecessors.push_back(static_cast<std::uint32_t>(from)); }

  void end_node() {
    if (first.back() == predecessors.size()) roots.push_back(static_cast<std::uint32_t>(size()));
    first.push_back(static_cast<std::uint32_t>(predecessors.size()));
  }
};

/// 0 -> 1 -> 2 -> ...
inline shape linear_chain(std::size_t nodes) {
  shape s;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i > 0) s.edge_to_last(i - 1);
    s.end_node();
  }
  return s;
}

/// Node i precedes 2i + 1 and 2i + 2; complete when nodes is a power of two less one.
inline shape binary_tree(std::size_t nodes) {
  shape s;
  for (std::size_t i = 0; i < nodes; ++i) {
    if (i > 0) s.edge_to_last((i - 1) / 2);
    s.end_node();
  }
  return s;
}

/// A side x side grid; (row, column) waits for its upper and its left neighbour.
inline shape wavefront(std::size_t side) {
  shape s;
  for (std::size_t row = 0; row < side; ++row) {
    for (std::size_t column = 0; column < side; ++column) {
      if (row > 0) s.edge_to_last((row - 1) * side + column);
      if (column > 0) s.edge_to_last(row * side + column - 1);
      s.end_node();
    }
  }
  return s;
}

/// The generator of splitmix64: the same numbers on every platform.
class splitmix {
 public:
  explicit splitmix(std::uint64_t seed) noexcept : state_{seed} {}

  std::uint64_t below(std::uint64_t bound) noexcept {
    state_ += 0x9e3779b97f4a7c15u;
    auto z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % bound;
  }

 private:
  std::uint64_t state_;
};

/// Every node after the first few has 1 to 4 different predecessors, drawn from all earlier nodes; out-degree <= 4.
inline shape random_dag(std::size_t nodes, std::uint64_t seed = 7) {
  constexpr std::size_t max_degree = 4;
  constexpr std::size_t root_count = 8;
  shape s;
  splitmix random{seed};
  std::vector<std::uint8_t> out_degree(nodes, 0);
  for (std::size_t i = 0; i < nodes; ++i) {
    auto const wanted = i < root_count ? 0 : 1 + random.below(max_degree);
    auto const begin = s.predecessors.size();
    while (s.predecessors.size() - begin < wanted) {
      auto const from = random.below(i);
      auto const chosen = std::span{s.predecessors}.subspan(begin);
      if (out_degree[from] == max_degree || std::ranges::find(chosen, from) != chosen.end()) continue;
      ++out_degree[from];
      s.edge_to_last(from);
    }
    s.end_node();
  }
  return s;
}

/// The product of two n x n matrices, one task per row: n tasks fill A, n fill B, one joins them, n multiply.
inline shape matrix_product(std::size_t n) {
  shape s;
  for (std::size_t i = 0; i < 2 * n; ++i) s.end_node();
  for (std::size_t i = 0; i < 2 * n; ++i) s.edge_to_last(i);
  s.end_node();
  for (std::size_t i = 0; i < n; ++i) {
    s.edge_to_last(2 * n);
    s.end_node();
  }
  return s;
}

inline constexpr std::string_view shape_names[] = {"chain", "tree", "dag", "wavefront"};

/// The shape of that name with about that many nodes (a tree is complete, a wavefront square).
inline shape make_shape(std::string_view name, std::size_t nodes) {
  if (name == "tree") return binary_tree(std::bit_floor(nodes + 1) - 1);
  if (name == "dag") return random_dag(nodes);
  if (name == "wavefront") return wavefront(static_cast<std::size_t>(std::sqrt(static_cast<double>(nodes)) + 0.5));
  return linear_chain(nodes);
}

}  // namespace bench
