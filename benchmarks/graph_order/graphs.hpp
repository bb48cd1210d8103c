// The graphs that are simulated: dense factorisations by tiles, circuits, random layers.
#pragma once

#include <heist/simulate.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "reader.hpp"

namespace graph_order {

namespace sim = heist::sim;

/// Nodes in the order in which a program adds them, with work in nanoseconds.
struct graph {
  std::string name;
  std::vector<sim::ticks> work;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;

  std::uint32_t add(sim::ticks t) {
    work.push_back(t);
    return static_cast<std::uint32_t>(work.size() - 1);
  }
  sim::program program() const {
    sim::program_builder b(name);
    auto const nodes = static_cast<std::uint32_t>(work.size());
    std::uint32_t const first = b.add_graph(nodes);
    for (std::uint32_t i = 0; i != nodes; ++i) {
      b.begin(first + i);
      b.work(work[i]);
    }
    for (auto const& [from, to] : edges) b.precede(first + from, first + to);
    return b.finish();
  }
};

/// Tasks that write tiles of a square: each comes after the last writer of each tile that it touches.
class tiles {
 public:
  tiles(graph& g, std::uint32_t side) : g_{g}, side_{side}, writer_(std::size_t{side} * side, none) {}

  struct tile {
    std::uint32_t row, column;
  };
  void task(sim::ticks work, tile written, std::vector<tile> const& read) {
    std::uint32_t const t = g_.add(work);
    for (tile const at : read) after(t, at);
    after(t, written);
    writer_[index(written)] = t;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::size_t index(tile at) const { return std::size_t{at.row} * side_ + at.column; }
  void after(std::uint32_t t, tile at) {
    if (writer_[index(at)] != none) g_.edges.emplace_back(writer_[index(at)], t);
  }

  graph& g_;
  std::uint32_t side_;
  std::vector<std::uint32_t> writer_;
};

/// A third of n^3, n^3, n^3 and 2 n^3 operations: potrf, trsm, syrk, gemm. A unit is 30 us.
inline graph cholesky(std::uint32_t side) {
  graph g{"Cholesky " + std::to_string(side), {}, {}};
  tiles m{g, side};
  for (std::uint32_t k = 0; k != side; ++k) {
    m.task(10'000, {k, k}, {});
    for (std::uint32_t i = k + 1; i != side; ++i) m.task(30'000, {i, k}, {{k, k}});
    for (std::uint32_t i = k + 1; i != side; ++i) {
      m.task(30'000, {i, i}, {{i, k}});
      for (std::uint32_t j = k + 1; j != i; ++j) m.task(60'000, {i, j}, {{i, k}, {j, k}});
    }
  }
  return g;
}

/// Two thirds of n^3, n^3, n^3 and 2 n^3 operations.
inline graph lu(std::uint32_t side) {
  graph g{"LU " + std::to_string(side), {}, {}};
  tiles m{g, side};
  for (std::uint32_t k = 0; k != side; ++k) {
    m.task(20'000, {k, k}, {});
    for (std::uint32_t i = k + 1; i != side; ++i) m.task(30'000, {i, k}, {{k, k}});
    for (std::uint32_t j = k + 1; j != side; ++j) m.task(30'000, {k, j}, {{k, k}});
    for (std::uint32_t i = k + 1; i != side; ++i) {
      for (std::uint32_t j = k + 1; j != side; ++j) m.task(60'000, {i, j}, {{i, k}, {k, j}});
    }
  }
  return g;
}

/// Timing of a circuit: each gate after those that drive it; 2 us for each pair of pins, as a look at delay tables takes.
inline graph circuit(std::string const& file) {
  timing::netlist const c = timing::read_verilog_file(file);
  graph g{c.name, {}, {}};
  for (timing::gate_id i = 0; i != c.gates.size(); ++i) g.add(0);
  for (timing::gate_id i = 0; i != c.gates.size(); ++i) {
    sim::ticks pinned = 0;
    c.for_each_fan_in(i, [&](timing::gate_id from) {
      g.edges.emplace_back(from, i);
      ++pinned;
    });
    g.work[i] = 2'000 * (pinned + 1);
  }
  return g;
}

/// Layers of `width` nodes; each waits for 1 to 3 of the layer before; work from an exponential distribution of 20 us.
inline graph layers(std::uint32_t count, std::uint32_t width, std::uint64_t seed) {
  graph g{"layers " + std::to_string(count) + " x " + std::to_string(width), {}, {}};
  heist::fast_random random{seed};
  sim::duration const work = sim::exponential(20'000);
  for (std::uint32_t layer = 0; layer != count; ++layer) {
    for (std::uint32_t i = 0; i != width; ++i) {
      std::uint32_t const t = g.add(work.draw(random));
      for (std::uint32_t e = 1 + random.below(3); layer != 0 && e != 0; --e)
        g.edges.emplace_back((layer - 1) * width + random.below(width), t);
    }
  }
  return g;
}

}  // namespace graph_order
