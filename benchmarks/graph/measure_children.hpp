// Measurements in child processes: the first build in a fresh heap, memory per node, and copies that run together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "built_graph.hpp"
#include "probes.hpp"

namespace bench {

/// Child: prints the seconds that the first graph of a process takes to build, memory from the system included.
template <class Library>
void build_child(std::string_view shape_name) {
  auto const& s = cached_shape(shape_name);
  typename Library::executor ex{1};
  built_graph<Library> g{ex, s};
  g.touch_handles();
  stopwatch watch;
  g.build();
  std::printf("%.9f\n", watch.seconds());
}

template <class Library>
void build(benchmark::State& state, std::string_view shape_name) {
  auto const nodes = cached_shape(shape_name).size();
  reporter report{state};
  for (auto _ : state) {
    child_process child{
        {"--child=build", std::string{Library::name}, std::string{shape_name}, std::to_string(graph_nodes)}};
    report.add(child.number(), nodes);
  }
}

/// Child: prints heap and resident bytes per node of a built graph, then the same after its first run.
template <class Library>
void memory_child(std::string_view shape_name) {
  auto const& s = cached_shape(shape_name);
  typename Library::executor ex{1};
  {
    auto const tiny = linear_chain(1);
    built_graph<Library> g{ex, tiny};
    g.build();
    g.run();
  }
  built_graph<Library> g{ex, s};
  g.touch_handles();
  auto const before = memory_now();
  for (int step = 0; step < 2; ++step) {
    step == 0 ? g.build() : g.run();
    auto const now = memory_now();
    auto const nodes = static_cast<double>(s.size());
    std::printf("%.2f %.2f\n", (now.heap - before.heap) / nodes, (now.resident - before.resident) / nodes);
  }
}

template <class Library>
void memory(benchmark::State& state, std::string_view shape_name) {
  for (auto _ : state) {
    child_process child{
        {"--child=memory", std::string{Library::name}, std::string{shape_name}, std::to_string(graph_nodes)}};
    state.counters["heap_built"] = child.number();
    state.counters["value"] = child.number();
    state.counters["heap_after_run"] = child.number();
    state.counters["value_after_run"] = child.number();
    state.SetIterationTime(1);
  }
}

inline constexpr std::size_t corun_nodes = 16'384;
inline constexpr int corun_runs = 30;

/// Child: builds a random graph of small tasks, warms up, and on a line from its parent runs it; prints the seconds.
template <class Library>
void corun_child(std::size_t workers) {
  auto const s = random_dag(corun_nodes);
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  g.build([](std::size_t i) {
    return [i] {
      std::uint64_t x = i;
      for (int step = 0; step < 500; ++step) x = x * 6364136223846793005u + 1442695040888963407u;
      benchmark::DoNotOptimize(x);
    };
  });
  g.run();
  std::printf("0\n");
  std::fflush(stdout);
  (void)std::getchar();
  stopwatch watch;
  for (int i = 0; i < corun_runs; ++i) g.run();
  std::printf("%.9f\n", watch.seconds());
}

/// Seconds that each of so many copies needs when they start together.
template <class Library>
std::vector<double> corun_seconds(std::size_t copies, std::size_t workers) {
  std::vector<child_process> children;
  for (std::size_t i = 0; i < copies; ++i) {
    children.emplace_back(
        std::vector<std::string>{"--child=corun", std::string{Library::name}, std::to_string(workers), "0"});
  }
  std::vector<double> seconds;
  for (auto& child : children) child.number();
  for (auto& child : children) child.say("go");
  for (auto& child : children) seconds.push_back(child.number());
  return seconds;
}

/// Weighted speedup (the sum over all copies of time alone / time in company): 1 = as good as one after the other.
template <class Library>
void corun(benchmark::State& state, std::size_t copies, std::size_t workers) {
  for (auto _ : state) {
    auto const alone = corun_seconds<Library>(1, workers).front();
    auto const together = corun_seconds<Library>(copies, workers);
    double speedup = 0;
    double longest = 0;
    for (auto t : together) {
      speedup += alone / t;
      longest = std::max(longest, t);
    }
    state.SetIterationTime(longest);
    state.counters["speedup"] = speedup;
    state.counters["value"] = 1e9 * longest / (static_cast<double>(copies * corun_nodes) * corun_runs);
  }
}

}  // namespace bench
