// The fork/join benchmark program of a library: every kernel of examples/kernels, checked and measured.
//
// A library gives
//   name                        the end of its benchmarks' names
//   executor{workers, stack}    with at least `stack` bytes for a recursion, where the library can choose
//   executor.run(f)             calls f(context) and waits; context as kernels take it (kernel.hpp):
//                               fork_join(f, g, ...), and a nested type `scope` or heist's
//   kernels                     optional, a tuple of the kernels it can run, if not all
// A library that wants recursions in a style of its own specialises the kernels' member templates for its context.
#pragma once

#include <benchmark/benchmark.h>

#include <chrono>
#include <cstddef>  // size_t
#include <cstdio>   // fputs
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "../../examples/kernels/all.hpp"
#include "../workers.hpp"

namespace bench {

inline std::size_t size_of(kernels::description const& k, std::string_view sizes) {
  return sizes == "test" ? k.test : sizes == "published" ? k.published : k.usual;
}

/// A line of /proc/self/status, in bytes; 0 where the system does not say.
inline double memory_status(std::string_view line) {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == line && status >> kibibytes) return 1024 * kibibytes;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return 0;
}

/// Times run(), which solves the prepared kernel; the first run, which is not timed, is checked. The counter `value` is
/// nanoseconds per run. The other two counters are in bytes; they describe the row alone if it is run in a process of
/// its own. `peak_rss` is the maximum of resident memory (not getrusage's figure, which outlives exec); pages of
/// programs and shared libraries are the greater part of it. `anonymous` is the resident memory at the end without
/// those pages: stacks, queues, heap.
template <class K, class F>
void measure(benchmark::State& state, K& k, F const& run) {
  using clock = std::chrono::steady_clock;
  k.prepare();
  run();
  if (std::string const wrong = k.check(); !wrong.empty()) {
    state.SkipWithError(wrong.c_str());
    return;
  }
  double total = 0;
  for (auto _ : state) {
    k.prepare();
    auto const start = clock::now();
    run();
    double const seconds = std::chrono::duration<double>(clock::now() - start).count();
    state.SetIterationTime(seconds);
    total += seconds;
  }
  state.counters["value"] = 1e9 * total / static_cast<double>(state.iterations());
  state.counters["peak_rss"] = memory_status("VmHWM:");
  state.counters["anonymous"] = memory_status("RssAnon:");
}

template <class K>
void measure_serial(benchmark::State& state, std::size_t size) {
  K k{size};
  measure(state, k, [&] { k.serial(); });
}

template <class Library, class K>
void measure_parallel(benchmark::State& state, std::size_t size, std::size_t workers) {
  K k{size};
  typename Library::executor ex{workers, K::about.stack};
  measure(state, k, [&] { ex.run([&](auto ctx) { k.parallel(ctx); }); });
}

template <class F>
void add(std::string const& name, F f) {
  benchmark::RegisterBenchmark(name.c_str(), f)->UseManualTime()->MinTime(0.2)->Unit(benchmark::kMillisecond);
}

#ifdef HEIST_BENCH_SHORT
using kernels_here = std::tuple<kernels::fib, kernels::skynet, kernels::nqueens, kernels::multisort, kernels::cholesky>;
#else
using kernels_here = kernels::all;
#endif

template <class Library>
struct kernels_of {
  using type = kernels_here;
};
template <class Library>
requires requires {
  typename Library::kernels;
}
struct kernels_of<Library> {
  using type = typename Library::kernels;
};

template <class Library>
void register_library(std::string_view sizes, std::vector<std::size_t> const& worker_counts) {
  auto const register_kernel = [&]<class K>() {
    std::string const name{K::about.name};
    std::size_t const size = size_of(K::about, sizes);
    for (std::size_t const workers : worker_counts) {
      add(name + "/p" + std::to_string(workers) + std::string{Library::name},
          [=](benchmark::State& s) { measure_parallel<Library, K>(s, size, workers); });
    }
  };
  [&]<class... K>(std::tuple<K...>*) {
    (register_kernel.template operator()<K>(), ...);
  }(static_cast<typename kernels_of<Library>::type*>(nullptr));
}

inline void register_serial(std::string_view sizes) {
  auto const register_kernel = [&]<class K>() {
    std::size_t const size = size_of(K::about, sizes);
    add(std::string{K::about.name} + "/serial", [=](benchmark::State& s) { measure_serial<K>(s, size); });
  };
  [&]<class... K>(std::tuple<K...>*) {
    (register_kernel.template operator()<K>(), ...);
  }(static_cast<kernels_here*>(nullptr));
}

/// The main function of a benchmark program for these libraries (or variants of one).
template <class... Libraries>
int run_suite(int argc, char** argv) {
  constexpr std::string_view sizes_option = "--sizes=", workers_option = "--workers=";
  std::string sizes = "usual", list = "1,2,4..max";
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument{argv[i]};
    if (argument.starts_with(sizes_option)) {
      sizes = argument.substr(sizes_option.size());
    } else if (argument.starts_with(workers_option)) {
      list = argument.substr(workers_option.size());
    } else {
      argv[kept++] = argv[i];
    }
  }
  if (sizes != "test" && sizes != "usual" && sizes != "published") {
    std::fputs("error: --sizes= takes test, usual or published\n", stderr);
    return 1;
  }
  std::vector<std::size_t> workers;
  try {
    workers = worker_list(list);
  } catch (std::invalid_argument const& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
  benchmark::Initialize(&kept, argv);
  if (benchmark::ReportUnrecognizedArguments(kept, argv)) return 1;
  register_serial(sizes);
  (register_library<Libraries>(sizes, workers), ...);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
