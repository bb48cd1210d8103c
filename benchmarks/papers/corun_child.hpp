// One of the processes that run together. It builds a graph and waits for a line from its parent. Then it runs the
// graph again and again for a given time, and prints the number of runs, the time and the CPU time.
#pragma once

#include <heist/heist.hpp>

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <cstdio>  // fflush, getchar, printf
#include <memory>  // unique_ptr
#include <string>
#include <string_view>
#include <vector>

#include "../graph/probes.hpp"
#include "../graph/shapes.hpp"
#include "../locality/waiting.hpp"

namespace papers {

/// The name of a graph, and a description of its tasks.
struct workload {
  std::string_view name;
  std::string_view what;
};

/// The first four are the micro-benchmarks of the adaptive paper's section III-A. The next two stand for its circuits:
/// "serial" for the smallest, without parallelism, and "parallel" for the largest, with much. The last builds the chain
/// for each run.
inline constexpr std::array<workload, 7> workloads{
    {{"chain", "a chain; each task increments a counter"},
     {"tree", "a binary tree of empty tasks"},
     {"graph", "a random graph, degrees up to 4; each task marks a flag"},
     {"matmul", "the product of two matrices, a task per row"},
     {"serial", "a chain of tasks of half a microsecond"},
     {"parallel", "a random graph of tasks of half a microsecond"},
     {"chain, built", "the chain, which one thread builds anew for each run, as the paper's programs do"}}};
inline constexpr std::size_t built_chain = 6;

namespace detail {

/// A heist::task_graph of the shape `s`. `body(i)` returns the callable of node i.
template <class Body>
std::unique_ptr<heist::task_graph> built(bench::shape const& s, Body const& body) {
  auto graph = std::make_unique<heist::task_graph>();
  std::vector<heist::task<>> nodes;
  nodes.reserve(s.size());
  for (std::size_t i = 0; i < s.size(); ++i) {
    nodes.push_back(graph->emplace(body(i)));
    for (auto const from : s.predecessors_of(i)) nodes[from].precede(nodes[i]);
  }
  return graph;
}

inline void half_a_microsecond(std::uint64_t x) {
  for (int step = 0; step < 500; ++step) x = x * 6364136223846793005u + 1442695040888963407u;
  std::uint64_t volatile result = x;
  static_cast<void>(result);
}

/// The graph of a workload, and the memory that its tasks use.
class problem {
 public:
  problem(std::string_view name, std::size_t nodes) {
    if (name == "chain") {
      graph_ = built(bench::linear_chain(nodes), [this](std::size_t) { return [this] { counter_ = counter_ + 1; }; });
    } else if (name == "tree") {
      graph_ = built(bench::make_shape("tree", nodes), [](std::size_t) { return [] {}; });
    } else if (name == "graph") {
      flags_.resize(nodes);
      graph_ = built(bench::random_dag(nodes), [this](std::size_t i) { return [this, i] { flags_[i] = 1; }; });
    } else if (name == "matmul") {
      for (auto& m : matrices_) m.resize(side * side);
      graph_ = built(bench::matrix_product(side), [this](std::size_t i) { return [this, i] { matrix_task(i); }; });
    } else {
      std::size_t const fewer = nodes / 16;  // so that a run takes about as long
      graph_ = built(name == "serial" ? bench::linear_chain(fewer) : bench::random_dag(fewer),
                     [](std::size_t i) { return [i] { half_a_microsecond(i); }; });
    }
  }
  problem(problem const&) = delete;
  problem& operator=(problem const&) = delete;

  heist::task_graph& graph() { return *graph_; }

 private:
  static constexpr std::size_t side = 256;

  /// The task of node i of bench::matrix_product. It fills a row of A or of B, or computes a row of the product. Node
  /// 2 * side does nothing.
  void matrix_task(std::size_t i) {
    auto& [a, b, product] = matrices_;
    if (i < 2 * side) {
      auto& m = i < side ? a : b;
      for (std::size_t j = 0; j < side; ++j) m[i % side * side + j] = static_cast<double>(i + j);
    } else if (i > 2 * side) {
      double* const row = product.data() + (i - 2 * side - 1) * side;
      double const* const left = a.data() + (i - 2 * side - 1) * side;
      for (std::size_t j = 0; j < side; ++j) row[j] = 0;
      for (std::size_t k = 0; k < side; ++k) {
        for (std::size_t j = 0; j < side; ++j) row[j] += left[k] * b[k * side + j];
      }
    }
  }

  std::uint64_t volatile counter_ = 0;
  std::vector<char> flags_;
  std::array<std::vector<double>, 3> matrices_;
  std::unique_ptr<heist::task_graph> graph_;
};

}  // namespace detail

/// Prints a 0 when it is ready, and waits for a line from its parent. Then it runs the workload for `seconds`. It
/// prints the number of runs, the seconds, the CPU seconds, and the seconds that its threads waited for a CPU.
template <class Idle>
void corun_child(std::string_view name, std::size_t nodes, std::size_t workers, double seconds) {
  bool const builds = name == workloads[built_chain].name;
  std::string_view const shape = builds ? workloads[0].name : name;
  detail::problem problem{shape, nodes};
  heist::executor<heist::policy::with_idle<heist::policy::random, Idle>> executor{workers};
  executor.run(problem.graph()).get();
  std::printf("0\n");
  std::fflush(stdout);
  static_cast<void>(std::getchar());
  bench::stopwatch const watch;
  double const cpu_before = bench::process_cpu_us(), blocked_before = locality::cpu_wait();
  std::size_t runs = 0;
  if (builds) {
    for (; watch.seconds() < seconds; ++runs) {
      detail::problem unused{shape, nodes};
      executor.run(unused.graph()).get();
    }
  } else {
    executor
        .run_until(problem.graph(),
                   [&] {
                     ++runs;
                     return watch.seconds() >= seconds;
                   })
        .get();
  }
  double const elapsed = watch.seconds();
  double const cpu = 1e-6 * (bench::process_cpu_us() - cpu_before);
  std::printf("%zu %.9f %.9f %.9f\n", runs, elapsed, cpu, locality::cpu_wait() - blocked_before);
}

}  // namespace papers
