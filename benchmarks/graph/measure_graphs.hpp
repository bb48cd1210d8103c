// Measurements of whole graphs: building again, the first run, later runs.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "built_graph.hpp"
#include "probes.hpp"

namespace bench {

/// Building again: with the memory that an earlier graph of the same shape has given back.
template <class Library>
void rebuild(benchmark::State& state, std::string_view name) {
  auto const& s = cached_shape(name);
  typename Library::executor ex{1};
  built_graph<Library> g{ex, s};
  g.build();
  std::vector<char> const above_the_graph(64 * 1024);  // malloc cannot shrink the heap below it
  g.clear();
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    g.build();
    report.add(watch.seconds(), s.size());
    g.clear();
  }
}

template <class Library>
void first_run(benchmark::State& state, std::string_view name, std::size_t workers) {
  auto const& s = cached_shape(name);
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  reporter report{state};
  for (auto _ : state) {
    g.build();
    stopwatch watch;
    g.run();
    report.add(watch.seconds(), s.size());
    g.clear();
  }
}

/// A new graph for each run, with the memory of the one before: build, run once, clear.
template <class Library>
void one_shot(benchmark::State& state, std::string_view name, std::size_t workers) {
  auto const& s = cached_shape(name);
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  auto const once = [&] {
    g.build();
    g.run();
    g.clear();
  };
  once();
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    once();
    report.add(watch.seconds(), s.size());
  }
}

/// A program that has a new graph for each question. It builds the graph node by node in an object that stays, and asks
/// every node for its number of predecessors. It runs the graph once, and clears it. Small graphs are repeated many
/// times. `only_run`: counts the time of the run alone.
template <class Library>
void anew(benchmark::State& state, std::string_view name, std::size_t nodes, std::size_t workers, bool only_run) {
  auto const s = make_shape(name, nodes);
  typename Library::executor ex{workers};
  typename Library::graph g{ex, s};
  std::vector<typename Library::node> handles;
  handles.reserve(s.size());
  std::size_t sources = 0;
  auto const once = [&] {
    stopwatch whole;
    for (std::size_t i = 0; i < s.size(); ++i) {
      handles.push_back(g.add(empty_task{}));
      for (auto from : s.predecessors_of(i)) g.precede(handles[from], handles[i]);
    }
    for (auto& node : handles) sources += g.predecessors(node) == 0;
    stopwatch run;
    ex.run(g);
    double const running = run.seconds();
    handles.clear();
    g.clear();
    return only_run ? running : whole.seconds();
  };
  once();
  std::size_t const per_graph = sources;
  reporter report{state};
  std::size_t graphs = 1;
  for (auto _ : state) {
    double seconds = 0;
    std::size_t const times = 1 + 100'000 / s.size();
    for (std::size_t k = 0; k < times; ++k) seconds += once();
    report.add(seconds, times * s.size());
    graphs += times;
  }
  if (per_graph == 0 || sources != graphs * per_graph) state.SkipWithError("a node has lost an edge");
}

template <class Library>
void rerun(benchmark::State& state, std::string_view name, std::size_t workers) {
  auto const& s = cached_shape(name);
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  g.build();
  g.run();
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    g.run();
    report.add(watch.seconds(), s.size());
  }
}

/// A chain whose nodes increment a plain integer: only the order of the chain keeps the count right.
template <class Library>
void rerun_counting(benchmark::State& state, std::size_t workers) {
  auto const& s = cached_shape("chain");
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  std::size_t count = 0;
  g.build([&count](std::size_t) { return [&count] { ++count; }; });
  g.run();
  {
    reporter report{state};
    for (auto _ : state) {
      stopwatch watch;
      g.run();
      report.add(watch.seconds(), s.size());
    }
  }
  if (count != s.size() * (1 + state.iterations())) state.SkipWithError("the chain lost an increment");
}

struct matrices {
  using matrix = std::array<std::array<float, matrix_side>, matrix_side>;
  matrix a, b, c;

  void row(std::size_t task) {
    auto const n = matrix_side;
    auto const i = task % n;
    if (task < n) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] = static_cast<float>(i + j);
    } else if (task < 2 * n) {
      for (std::size_t j = 0; j < n; ++j) b[i][j] = static_cast<float>(i == j);
    } else if (task > 2 * n) {
      multiply_row(task - 2 * n - 1);
    }
  }

  void multiply_row(std::size_t i) {
    c[i].fill(0);
    for (std::size_t k = 0; k < matrix_side; ++k) {
      for (std::size_t j = 0; j < matrix_side; ++j) c[i][j] += a[i][k] * b[k][j];
    }
  }
};

template <class Library>
void matmul(benchmark::State& state, std::size_t workers) {
  auto const s = matrix_product(matrix_side);
  auto m = std::make_unique<matrices>();
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  g.build([&m](std::size_t i) { return [&m, i] { m->row(i); }; });
  g.run();
  {
    reporter report{state};
    for (auto _ : state) {
      stopwatch watch;
      g.run();
      report.add(watch.seconds(), 1);
    }
  }
  if (m->c != m->a) state.SkipWithError("A times the unit matrix is not A");
}

}  // namespace bench
