// The benchmark program of a library: checks it, registers all measurements, runs them.
#pragma once

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../workers.hpp"
#include "built_graph.hpp"
#include "measure_children.hpp"
#include "measure_graphs.hpp"
#include "measure_tasks.hpp"

namespace bench {

/// Every node runs once per run and after all its predecessors, for every shape; ends the program otherwise.
template <class Library>
void check_library(std::size_t workers) {
  for (auto name : shape_names) {
    auto const s = make_shape(name, 4'095);
    std::vector<std::atomic<int>> runs(s.size());
    std::atomic<int> wrong{0};
    typename Library::executor ex{workers};
    built_graph<Library> g{ex, s};
    g.build([&](std::size_t i) {
      return [&, i] {
        int const mine = runs[i].load() + 1;
        for (auto from : s.predecessors_of(i)) wrong += runs[from].load() != mine;
        runs[i].store(mine);
      };
    });
    constexpr int rounds = 5;
    for (int r = 0; r < rounds; ++r) g.run();
    for (auto& r : runs) wrong += r.load() != rounds;
    if (wrong != 0) fail(std::string{Library::name} + ": wrong order or count in shape " + std::string{name});
  }
}

// ---- registration -----------------------------------------------------------------------------------------------

template <class Function>
benchmark::internal::Benchmark* add(std::string const& name, std::string_view suffix, Function f) {
  return benchmark::RegisterBenchmark((name + std::string{suffix}).c_str(), f)->UseManualTime();
}

/// Registers all measurements of a library, for each number of workers; those of processes are for the greatest.
template <class Library>
void register_library(std::vector<std::size_t> const& worker_counts) {
  using benchmark::State;
  auto const suffix = Library::name;
  std::size_t const most = worker_counts.back();
  auto at = [](std::string const& name, std::size_t p) { return name + "/p" + std::to_string(p); };
  for (auto name : shape_names) {
    std::string const n{name};
    add("build/" + n, suffix, [name](State& s) { build<Library>(s, name); })->Iterations(3);
    add("rebuild/" + n, suffix, [name](State& s) { rebuild<Library>(s, name); })->Iterations(3);
    for (auto p : worker_counts) {
      add(at("first_run/" + n, p), suffix, [=](State& s) { first_run<Library>(s, name, p); })->Iterations(3);
      add(at("rerun/" + n, p), suffix, [=](State& s) { rerun<Library>(s, name, p); })->MinTime(0.3);
      add(at("one_shot/" + n, p), suffix, [=](State& s) { one_shot<Library>(s, name, p); })->Iterations(3);
    }
    add("memory/" + n, suffix, [name](State& s) { memory<Library>(s, name); })->Iterations(1);
  }
  if constexpr (requires(typename Library::graph g, typename Library::node n) { g.predecessors(n), g.clear(); }) {
    for (std::size_t nodes : {100, 1'000, 10'000, 100'000}) {
      std::string const n = "dag" + std::to_string(nodes);
      for (auto p : worker_counts) {
        add(at("anew/" + n, p), suffix, [=](State& s) { anew<Library>(s, "dag", nodes, p, false); })->Iterations(5);
        add(at("anew_run/" + n, p), suffix, [=](State& s) { anew<Library>(s, "dag", nodes, p, true); })->Iterations(5);
      }
    }
  }
  for (auto p : worker_counts) {
    add(at("rerun_counting/chain", p), suffix, [=](State& s) { rerun_counting<Library>(s, p); })->MinTime(0.3);
    add(at("matmul", p), suffix, [=](State& s) { matmul<Library>(s, p); })->MinTime(0.3);
    add(at("async_outside", p), suffix, [=](State& s) { async_outside<Library>(s, p); })->Iterations(3);
    if constexpr (Library::has_futures) {
      add(at("async_future", p), suffix, [=](State& s) { async_future<Library>(s, p); })->Iterations(3);
    }
    add(at("async_inside", p), suffix, [=](State& s) { async_inside<Library>(s, p); })->Iterations(3);
    add(at("one_node_latency", p), suffix, [=](State& s) { one_node_latency<Library>(s, p); })->MinTime(0.3);
  }
  add(at("idle_cpu", most), suffix, [=](State& s) { idle_cpu<Library>(s, most); })->Iterations(1);
  add(at("long_task_cpu", most), suffix, [=](State& s) { long_task_cpu<Library>(s, most); })->Iterations(1);
  for (std::size_t copies : {1, 2, 4, 8}) {
    add(at("corun/copies" + std::to_string(copies), most), suffix, [=](State& s) {
      corun<Library>(s, copies, most);
    })->Iterations(1);
  }
}

/// Runs the child measurement that the arguments ask for, if it is this library's.
template <class Library>
bool run_as_child(std::string_view kind, std::string_view name, std::string_view argument) {
  if (name != Library::name) return false;
  if (kind == "--child=memory") {
    memory_child<Library>(argument);
  } else if (kind == "--child=build") {
    build_child<Library>(argument);
  } else {
    corun_child<Library>(std::stoul(std::string{argument}));
  }
  return true;
}

/// The main function of a benchmark program for these libraries (or variants of one).
template <class... Libraries>
int run_suite(int argc, char** argv) {
  if (argc == 5 && std::string_view{argv[1]}.starts_with("--child=")) {
    graph_nodes = std::stoul(argv[4]);
    return (run_as_child<Libraries>(argv[1], argv[2], argv[3]) || ...) ? 0 : 1;
  }
  constexpr std::string_view nodes_option = "--nodes=", tasks_option = "--tasks=", workers_option = "--workers=";
  std::string list = "1,2,4..max";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument{argv[i]};
    if (argument.starts_with(nodes_option)) {
      graph_nodes = std::stoul(std::string{argument.substr(nodes_option.size())});
    } else if (argument.starts_with(tasks_option)) {
      async_count = std::stoul(std::string{argument.substr(tasks_option.size())});
    } else if (argument.starts_with(workers_option)) {
      list = argument.substr(workers_option.size());
    } else {
      argv[kept++] = argv[i];
    }
  }
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 1;
  std::vector<std::size_t> workers;
  try {
    workers = worker_list(list);
  } catch (std::invalid_argument const& e) {
    fail(e.what());
  }
  (check_library<Libraries>(workers.back()), ...);
  (register_library<Libraries>(workers), ...);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
