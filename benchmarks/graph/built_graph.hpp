// Shared parts of all measurements. A measurement is written once for every library; a library is a type with
//
//   name                        appended to the benchmark names when not empty ("@adaptive")
//   executor{p}                 p workers
//     run(graph&)               one run of a built graph, waits for it
//     post(f), wait_idle()      a task without a future; wait for all of them
//     post_inside(n, f)         one task that posts n copies of f; waits for all
//     submit(f) -> future       only where has_futures; future.wait()
//   graph{executor&, shape const&}
//     add(f) -> node            nodes come in the order of the shape
//     precede(node&, node&)     an edge
//     predecessors(node&)       how many edges lead to it; with clear(), only where the library has both
//
// Every measurement reports the counter `value`: nanoseconds per operation, or what its comment says.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shapes.hpp"

namespace bench {

inline std::size_t graph_nodes = std::size_t{1} << 20;  // --nodes=N
inline std::size_t async_count = 1'000'000;             // --tasks=N
inline constexpr std::size_t matrix_side = 512;

struct empty_task {
  void operator()() const noexcept {}
};

/// The shape of that name with graph_nodes nodes; the last one asked for is kept.
inline shape const& cached_shape(std::string_view name) {
  static std::string cached_name;
  static shape cached;
  if (cached_name != name) {
    cached = make_shape(name, graph_nodes);
    cached_name = name;
  }
  return cached;
}

/// Reports seconds spent on that many operations of one iteration.
class reporter {
 public:
  explicit reporter(benchmark::State& state) : state_{state} {}
  ~reporter() { state_.counters["value"] = 1e9 * seconds_ / operations_; }

  void add(double seconds, std::size_t operations) {
    state_.SetIterationTime(seconds);
    seconds_ += seconds;
    operations_ += static_cast<double>(operations);
  }

 private:
  benchmark::State& state_;
  double seconds_ = 0;
  double operations_ = 0;
};

/// A graph of a library, built node by node: each node is added and then tied to its predecessors.
template <class Library>
class built_graph {
 public:
  using executor = typename Library::executor;

  built_graph(executor& ex, shape const& s) : executor_{ex}, shape_{s} { handles_.reserve(s.size()); }

  template <class MakeBody>
  void build(MakeBody make_body) {
    graph_.emplace(executor_, shape_);
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      handles_.push_back(graph_->add(make_body(i)));
      for (auto from : shape_.predecessors_of(i)) graph_->precede(handles_[from], handles_[i]);
    }
  }

  void build() {
    build([](std::size_t) { return empty_task{}; });
  }

  void clear() {
    handles_.clear();
    graph_.reset();
  }

  void run() { executor_.run(*graph_); }

  /// Makes the memory of the handles resident, so that it does not count as the graph's.
  void touch_handles() {
    for (std::size_t i = 0; i < shape_.size(); ++i) handles_.push_back(typename Library::node{});
    handles_.clear();
  }

 private:
  executor& executor_;
  shape const& shape_;
  std::vector<typename Library::node> handles_;
  std::optional<typename Library::graph> graph_;
};

}  // namespace bench
