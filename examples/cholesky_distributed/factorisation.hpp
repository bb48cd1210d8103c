// The factorisation as a graph: for a distributed_graph over many processes, or a task_graph in one.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <heist/core/executor/context.hpp>
#include <heist/graph/input.hpp>

#include "tiles.hpp"

namespace example {

/// The lower triangle of tiles, by rows, as handles to the tasks that return them.
template <class Handle>
struct triangle {
  explicit triangle(std::size_t n) : tiles(n * (n + 1) / 2) {}
  Handle& operator()(std::size_t row, std::size_t column) { return tiles[row * (row + 1) / 2 + column]; }
  std::vector<Handle> tiles;
};

/// Adds the tasks that make and factor a matrix of n x n tiles; `place(row, column)` is a tile's rank. Each step takes
/// its tile from the step before, so tiles are changed in place. Each task calls `note(context, kind)`.
template <class Graph, class Place, class Note>
auto add_cholesky(Graph& g, std::size_t n, std::size_t size, Place place, Note note) {
  auto const make = [&](std::size_t i, std::size_t j) {
    return g.emplace(heist::on(place(i, j)),
                     [=](heist::context c) { return note(c, 'm'), make_tile(i, j, size, n * size); });
  };
  triangle<decltype(make(0, 0))> a{n};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) a(i, j) = make(i, j);
  }
  for (std::size_t k = 0; k < n; ++k) {
    a(k, k) = g.emplace(
        heist::on(place(k, k)),
        [=](heist::context c, tile&& x) {
          note(c, 'f');
          factor(x, size);
          return std::move(x);
        },
        heist::take(a(k, k)));
    for (std::size_t i = k + 1; i < n; ++i) {
      a(i, k) = g.emplace(
          heist::on(place(i, k)),
          [=](heist::context c, tile const& l, tile&& x) {
            note(c, 's');
            solve(l, x, size);
            return std::move(x);
          },
          a(k, k), heist::take(a(i, k)));
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) {
        auto const step = [=](heist::context c, tile const& x, tile const& y, tile&& z) {
          note(c, 'u');
          update(x, y, z, size);
          return std::move(z);
        };
        a(i, j) = g.emplace(heist::on(place(i, j)), step, a(i, k), a(j, k), heist::take(a(i, j)));
      }
    }
  }
  return a;
}

/// Computes the factor on one thread without tasks, for comparison.
inline std::vector<tile> factored_here(std::size_t n, std::size_t size) {
  std::vector<tile> a(n * (n + 1) / 2);
  auto const at = [&](std::size_t i, std::size_t j) -> tile& { return a[i * (i + 1) / 2 + j]; };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) at(i, j) = make_tile(i, j, size, n * size);
  }
  for (std::size_t k = 0; k < n; ++k) {
    factor(at(k, k), size);
    for (std::size_t i = k + 1; i < n; ++i) solve(at(k, k), at(i, k), size);
    for (std::size_t i = k + 1; i < n; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) update(at(i, k), at(j, k), at(i, j), size);
    }
  }
  return a;
}

}  // namespace example
