// Task graphs whose tasks hash their predecessors' values, so that a task that runs too early gives a wrong value.
#pragma once

#include <heist/heist.hpp>

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <utility>  // move
#include <vector>

#include "../graph/shapes.hpp"

namespace measure {

inline std::uint64_t multiply(std::uint64_t x, std::size_t steps) {
  for (std::size_t i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

/// A graph of this shape. Each task makes `steps` multiplications that depend on one another.
class hashed_graph {
 public:
  hashed_graph(bench::shape s, std::size_t steps) : shape_{std::move(s)}, steps_{steps}, values_(shape_.size()) {
    std::vector<heist::task<>> nodes;
    nodes.reserve(shape_.size());
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      nodes.push_back(graph_.emplace([this, i] { compute(i); }));
      for (auto const from : shape_.predecessors_of(i)) nodes[from].precede(nodes[i]);
    }
  }
  hashed_graph(hashed_graph const&) = delete;
  hashed_graph& operator=(hashed_graph const&) = delete;

  heist::task_graph& graph() { return graph_; }

  /// Before each run: the values of another run do not count as right.
  void prepare() { ++run_; }
  void serial() {
    for (std::size_t i = 0; i < shape_.size(); ++i) compute(i);
  }
  template <class Executor>
  void parallel(Executor& ex) {
    ex.run(graph_).get();
  }
  std::string check() {
    auto const got = values_;
    serial();
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i] != values_[i]) return fmt::format("task {} has not run, or has run before one that it waits for", i);
    }
    return {};
  }
  std::string size() const { return fmt::format("{} tasks, {} edges", shape_.size(), shape_.edge_count()); }

 private:
  void compute(std::size_t i) {
    std::uint64_t sum = run_ + i;
    for (auto const from : shape_.predecessors_of(i)) sum = 31 * sum + values_[from];
    values_[i] = multiply(sum, steps_);
  }

  bench::shape shape_;
  std::size_t steps_;
  std::uint64_t run_ = 0;
  std::vector<std::uint64_t> values_;
  heist::task_graph graph_;
};

}  // namespace measure
