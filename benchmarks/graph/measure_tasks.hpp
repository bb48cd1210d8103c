// Measurements of small things: empty asyncs, the latency of one node, CPU time with nothing or little to do.
#pragma once

#include <cstddef>
#include <vector>

#include "built_graph.hpp"
#include "probes.hpp"

namespace bench {

template <class Library>
void some_work(typename Library::executor& ex) {
  auto const s = binary_tree(16'383);
  built_graph<Library> g{ex, s};
  g.build();
  for (int i = 0; i < 10; ++i) g.run();
  for (int i = 0; i < 1000; ++i) ex.post(empty_task{});
  ex.wait_idle();
}

template <class Library>
void async_outside(benchmark::State& state, std::size_t workers) {
  typename Library::executor ex{workers};
  some_work<Library>(ex);
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    for (std::size_t i = 0; i < async_count; ++i) ex.post(empty_task{});
    ex.wait_idle();
    report.add(watch.seconds(), async_count);
  }
}

template <class Library>
void async_future(benchmark::State& state, std::size_t workers) {
  typename Library::executor ex{workers};
  std::vector<decltype(ex.submit(empty_task{}))> futures;
  futures.reserve(async_count);
  some_work<Library>(ex);
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    for (std::size_t i = 0; i < async_count; ++i) futures.push_back(ex.submit(empty_task{}));
    for (auto& f : futures) f.wait();
    report.add(watch.seconds(), async_count);
    futures.clear();
  }
}

template <class Library>
void async_inside(benchmark::State& state, std::size_t workers) {
  typename Library::executor ex{workers};
  some_work<Library>(ex);
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    ex.post_inside(async_count, empty_task{});
    report.add(watch.seconds(), async_count);
  }
}

template <class Library>
void one_node_latency(benchmark::State& state, std::size_t workers) {
  constexpr std::size_t batch = 1000;
  auto const s = linear_chain(1);
  typename Library::executor ex{workers};
  built_graph<Library> g{ex, s};
  g.build();
  g.run();
  reporter report{state};
  for (auto _ : state) {
    stopwatch watch;
    for (std::size_t i = 0; i < batch; ++i) g.run();
    report.add(watch.seconds(), batch);
  }
}

// ---- CPU time ------------------------------------------------------------------------------------------------------

/// CPU microseconds per second of an executor that has worked and has nothing left to do.
template <class Library>
void idle_cpu(benchmark::State& state, std::size_t workers) {
  typename Library::executor ex{workers};
  for (auto _ : state) {
    some_work<Library>(ex);
    stopwatch watch;
    auto const before = process_cpu_us();
    timespec const second{1, 0};
    nanosleep(&second, nullptr);
    auto const used = process_cpu_us() - before;
    state.SetIterationTime(watch.seconds());
    state.counters["value"] = used / watch.seconds();
  }
}

/// CPU microseconds per second that the process uses beyond the one task that computes for a second.
template <class Library>
void long_task_cpu(benchmark::State& state, std::size_t workers) {
  auto const s = linear_chain(1);
  typename Library::executor ex{workers};
  double task_us = 0;
  built_graph<Library> g{ex, s};
  g.build([&task_us](std::size_t) {
    return [&task_us] {
      auto const before = thread_cpu_us();
      for (stopwatch watch; watch.seconds() < 1;) {
      }
      task_us = thread_cpu_us() - before;
    };
  });
  for (auto _ : state) {
    some_work<Library>(ex);
    stopwatch watch;
    auto const before = process_cpu_us();
    g.run();
    auto const used = process_cpu_us() - before - task_us;
    state.SetIterationTime(watch.seconds());
    state.counters["value"] = used / watch.seconds();
  }
}

}  // namespace bench
