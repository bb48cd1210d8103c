// Shortest paths between all vertices (Floyd and Warshall): a step allows the paths one more vertex to pass, in place.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <algorithm>  // copy, min
#include <array>
#include <cstddef>  // size_t
#include <limits>
#include <string>
#include <vector>

#include "../locality/plate.hpp"
#include "blocks.hpp"

namespace replay {

class floyd_warshall {
 public:
  static constexpr locality::description about{.name = "floyd-warshall",
                                               .problem = "shortest paths between n vertices, one vertex a step",
                                               .size_means = "vertices n",
                                               .smallest = 2,
                                               .largest = 32'768,
                                               .test = 50,
                                               .usual = 512,
                                               .leaf = 32,
                                               .steps = 1000};
  static std::size_t bytes_for(std::size_t n) { return n * n * sizeof(double); }

  explicit floyd_warshall(locality::settings const& s) : distances_{s.size}, leaf_{s.leaf} {
    for (pass_through& p : through_) p = {std::vector<double>(s.size), std::vector<double>(s.size)};
  }

  void prepare() {
    distances_ = given();
    note_next(0, 0, {{0, size()}, {0, size()}});
  }

  static constexpr std::size_t regions() { return 1; }  // locality
  block_size block() const { return {leaf_, 8 * leaf_}; }

  /// After the last vertex the first one comes again, which changes nothing.
  template <class Run>
  void step(Run const& run, std::size_t i) {
    run(0, box{{0, size()}, {0, size()}}, block(), [this, i](box const& b) {
      pass_through const& k = through_[i % 2];
      for (std::size_t row = b.rows.first; row < b.rows.last; ++row)
        relax(distances_[row], k.column[row], k.row.data(), b.columns.first, b.columns.last);
      note_next((i + 1) % 2, (i + 1) % size(), b);
    });
  }

  double work(std::size_t) const { return static_cast<double>(size() * size()); }
  std::size_t bytes() const { return bytes_for(size()); }
  locality::plate const& result(std::size_t) const { return distances_; }

  /// When all vertices may be passed: the distances from some of them, by Dijkstra.
  std::string check(std::size_t steps) const {
    if (steps < size()) return {};
    locality::plate const edges = given();
    for (std::size_t from = 0; from < size(); from += 1 + size() / 4) {
      std::vector<double> const wanted = dijkstra(edges, from);
      for (std::size_t to = 0; to < size(); ++to) {
        if (distances_[from][to] != wanted[to])
          return fmt::format("from {} to {} it is {} instead of {}", from, to, distances_[from][to], wanted[to]);
      }
    }
    return {};
  }

 private:
  /// Distances from and to the vertex of a step. They are copies, since a block must not read what another one writes,
  /// although that changes nothing.
  struct pass_through {
    std::vector<double> row, column;
  };

  std::size_t size() const { return distances_.size(); }

  /// Whole numbers, so that sums are exact.
  locality::plate given() const {
    locality::plate edges{distances_.size()};
    locality::random_numbers random{1};
    for (std::size_t i = 0; i < edges.size(); ++i) {
      for (std::size_t j = 0; j < edges.size(); ++j)
        edges[i][j] = i == j ? 0.0 : 1.0 + static_cast<double>(random.below(1 + 64 * edges.size()));
    }
    return edges;
  }

  void note_next(std::size_t which, std::size_t vertex, box const& b) {
    pass_through& next = through_[which];
    if (b.rows.first <= vertex && vertex < b.rows.last)
      std::copy(distances_[vertex] + b.columns.first, distances_[vertex] + b.columns.last,
                next.row.begin() + static_cast<std::ptrdiff_t>(b.columns.first));
    if (b.columns.first <= vertex && vertex < b.columns.last) {
      for (std::size_t i = b.rows.first; i < b.rows.last; ++i) next.column[i] = distances_[i][vertex];
    }
  }

  HEIST_NOINLINE static void relax(double* row, double to_vertex, double const* from_vertex, std::size_t first,
                                   std::size_t last) {
    for (std::size_t j = first; j < last; ++j) {
      double const way = to_vertex + from_vertex[j];
      row[j] = way < row[j] ? way : row[j];
    }
  }

  static std::vector<double> dijkstra(locality::plate const& edges, std::size_t from) {
    std::size_t const n = edges.size();
    std::vector<double> distance(edges[from], edges[from] + n);
    std::vector<bool> done(n);
    for (std::size_t round = 0; round < n; ++round) {
      std::size_t next = n;
      for (std::size_t v = 0; v < n; ++v) {
        if (!done[v] && (next == n || distance[v] < distance[next])) next = v;
      }
      done[next] = true;
      for (std::size_t v = 0; v < n; ++v) distance[v] = std::min(distance[v], distance[next] + edges[next][v]);
    }
    return distance;
  }

  locality::plate distances_;
  std::array<pass_through, 2> through_;
  std::size_t leaf_;
};

}  // namespace replay
