// Random graphs of many shapes, from a seed: plain lists of edges, acyclic by construction.
#pragma once

#include <algorithm>  // shuffle, sort, unique
#include <array>
#include <cmath>    // sqrt
#include <cstddef>  // size_t
#include <cstdint>
#include <numeric>  // iota
#include <random>
#include <utility>  // pair
#include <vector>

namespace heist_test {

using random_engine = std::mt19937_64;

/// A number from `low` to `high`.
inline std::uint32_t any_of(random_engine& random, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>{low, high}(random);
}
inline bool chance(random_engine& random, double probability) {
  return std::bernoulli_distribution{probability}(random);
}

struct plain_graph {
  std::uint32_t size = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;  ///< from, to

  void edge(std::uint32_t from, std::uint32_t to) { edges.emplace_back(from, to); }
};

enum class shape {
  empty,
  single,
  independent,
  chain,
  chains,
  star_out,
  star_in,
  diamonds,
  fork_join_tree,
  wavefront,
  layered,
  random_order,
  wide_fan_in,
  butterfly
};
inline constexpr std::array all_shapes{shape::empty,          shape::single,    shape::independent, shape::chain,
                                       shape::chains,         shape::star_out,  shape::star_in,     shape::diamonds,
                                       shape::fork_join_tree, shape::wavefront, shape::layered,     shape::random_order,
                                       shape::wide_fan_in,    shape::butterfly};

inline char const* name_of(shape s) noexcept {
  constexpr std::array names{"empty",    "single",       "independent", "chain",          "chains",
                             "star_out", "star_in",      "diamonds",    "fork_join_tree", "wavefront",
                             "layered",  "random_order", "wide_fan_in", "butterfly"};
  return names[static_cast<std::size_t>(s)];
}

/// About `size` nodes of the given shape. The numbering of the nodes is shuffled half of the time, so that the order of
/// creation is no topological order.
inline plain_graph make_graph(shape s, std::uint32_t size, random_engine& random) {
  plain_graph g;
  g.size = size;
  switch (s) {
    case shape::empty:
      g.size = 0;
      break;
    case shape::single:
      g.size = 1;
      break;
    case shape::independent:
      break;
    case shape::chain:
      for (std::uint32_t i = 1; i < size; ++i) g.edge(i - 1, i);
      break;
    case shape::chains: {
      std::uint32_t const width = any_of(random, 2, 16);
      for (std::uint32_t i = width; i < size; ++i) g.edge(i - width, i);
      break;
    }
    case shape::star_out:
      for (std::uint32_t i = 1; i < size; ++i) g.edge(0, i);
      break;
    case shape::star_in:
      for (std::uint32_t i = 1; i < size; ++i) g.edge(i - 1, size - 1);
      break;
    case shape::diamonds:
      g.size = size / 4 * 4 + 4;
      for (std::uint32_t i = 0; i < g.size; i += 4) {
        g.edge(i, i + 1), g.edge(i, i + 2), g.edge(i + 1, i + 3), g.edge(i + 2, i + 3);
        if (i != 0) g.edge(i - 1, i);
      }
      break;
    case shape::fork_join_tree: {  // a tree out, and its mirror image in
      std::uint32_t const half = size / 2 + 1;
      std::uint32_t const arity = any_of(random, 2, 4);
      g.size = 2 * half;
      for (std::uint32_t i = 1; i < half; ++i) {
        g.edge((i - 1) / arity, i);
        g.edge(half + i, half + (i - 1) / arity);
      }
      for (std::uint32_t i = 0; i < half; ++i) {
        if (i * arity + 1 >= half) g.edge(i, half + i);  // a leaf
      }
      break;
    }
    case shape::wavefront: {
      auto const side = static_cast<std::uint32_t>(std::sqrt(static_cast<double>(size))) + 1;
      g.size = side * side;
      for (std::uint32_t y = 0; y < side; ++y) {
        for (std::uint32_t x = 0; x < side; ++x) {
          if (x + 1 < side) g.edge(y * side + x, y * side + x + 1);
          if (y + 1 < side) g.edge(y * side + x, (y + 1) * side + x);
        }
      }
      break;
    }
    case shape::layered: {
      std::uint32_t const width = any_of(random, 1, size < 64 ? size : 64);
      std::uint32_t const degree = any_of(random, 1, 4);
      for (std::uint32_t i = width; i < size; ++i) {
        std::uint32_t const first = (i / width - 1) * width;
        for (std::uint32_t d = 0; d < degree; ++d) g.edge(any_of(random, first, first + width - 1), i);
      }
      break;
    }
    case shape::random_order: {
      std::uint32_t const degree = any_of(random, 1, 4);
      for (std::uint32_t i = 1; i < size; ++i) {
        for (std::uint32_t d = any_of(random, 0, degree); d != 0; --d) g.edge(any_of(random, 0, i - 1), i);
      }
      break;
    }
    case shape::wide_fan_in: {  // some collectors, each after a large part of the others
      std::uint32_t const sources = size - (size < 2048 ? size / 32 : 64);
      for (std::uint32_t i = sources; i < size; ++i) {
        std::uint32_t const step = any_of(random, 1, 64);
        for (std::uint32_t k = any_of(random, 0, sources - 1); k < sources; k += step) g.edge(k, i);
      }
      break;
    }
    case shape::butterfly: {  // as in a fast Fourier transform
      std::uint32_t width = 2;
      while (width * width < size) width *= 2;
      std::uint32_t const layers = size / width + 1;
      g.size = width * layers;
      for (std::uint32_t layer = 1, bit = 1; layer < layers; ++layer, bit = bit * 2 < width ? bit * 2 : 1) {
        for (std::uint32_t i = 0; i < width; ++i) {
          g.edge((layer - 1) * width + i, layer * width + i);
          g.edge((layer - 1) * width + (i ^ bit), layer * width + i);
        }
      }
      break;
    }
  }
  if (chance(random, 0.5)) {
    std::vector<std::uint32_t> number(g.size);
    std::iota(number.begin(), number.end(), 0u);
    std::shuffle(number.begin(), number.end(), random);
    for (auto& [from, to] : g.edges) from = number[from], to = number[to];
  }
  if (chance(random, 0.5)) std::shuffle(g.edges.begin(), g.edges.end(), random);
  if (chance(random, 0.9)) {  // sometimes the same edge twice
    std::sort(g.edges.begin(), g.edges.end());
    g.edges.erase(std::unique(g.edges.begin(), g.edges.end()), g.edges.end());
  }
  return g;
}

/// Small graphs are much more frequent than large ones.
inline std::uint32_t any_size(random_engine& random, std::uint32_t largest) {
  double const exponent = std::uniform_real_distribution<double>{0, std::log2(static_cast<double>(largest))}(random);
  auto const size = static_cast<std::uint32_t>(std::exp2(exponent));
  return size < 1 ? 1 : size > largest ? largest : size;
}

}  // namespace heist_test
