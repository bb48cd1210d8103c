// The simulator's network: its four numbers, measured here, and a factorisation that it predicts.
#pragma once

#include <heist/distributed.hpp>
#include <heist/executor.hpp>
#include <heist/tools/simulate/ranks.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "factorisation.hpp"

namespace bench {

/// Nanoseconds, the least of so many times.
template <class F>
double least(int times, F&& f) {
  double best = 0;
  for (int i = 0; i < times; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    f();
    double const ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
    best = i == 0 ? ns : std::min(best, ns);
  }
  return best;
}

/// Many short runs: beside other work some of them are undisturbed.
inline double least_of_runs(heist::world& world, heist::executor<>& ex, heist::distributed_graph& g, int times) {
  world.barrier();
  return least(times, [&] { ex.run(g).get(); });
}

/// A chain that goes to and fro between two ranks: nanoseconds for each hop, with values of so many bytes.
inline double hop(heist::world& world, heist::executor<>& ex, int hops, std::size_t bytes) {
  heist::distributed_graph g{world};
  auto v = g.emplace(heist::on(0), [bytes] { return std::vector<char>(bytes, 'x'); });
  for (int i = 1; i <= hops; ++i)
    v = g.emplace(
        heist::on(i % 2), [](std::vector<char>&& x) { return std::move(x); }, heist::take(v));
  return least_of_runs(world, ex, g, 300) / hops;
}

/// As many values from one rank to the other at once: nanoseconds for each, which the busier end takes.
inline double burst(heist::world& world, heist::executor<>& ex, int count) {
  heist::distributed_graph g{world};
  for (int i = 0; i < count; ++i) {
    auto const v = g.emplace(heist::on(0), [i] { return i; });
    g.emplace(
        heist::on(1), [](int x) { return x; }, v);
  }
  return least_of_runs(world, ex, g, 300) / count;
}

inline heist::sim::network measure_network(heist::world& world, heist::executor<>& ex) {
  constexpr std::size_t large = 1 << 20;
  double const small_hop = hop(world, ex, 100, 8), large_hop = hop(world, ex, 10, large);
  double const each = burst(world, ex, 200);
  std::vector<char> const value(large, 'x');
  double const copying = least(30, [&] { heist::distributed::detail::packed(value); }) / static_cast<double>(large);
  heist::sim::network n;
  n.crossing = static_cast<heist::sim::ticks>(each);
  n.copying = copying;
  n.link = std::max(0.0, (large_hop - small_hop) / static_cast<double>(large));  // a large value is not copied
  n.latency = static_cast<heist::sim::ticks>(std::max(0.0, small_hop - 2 * each));
  return n;
}

/// Takes what a graph is given, as a program for the simulator. The number of inputs says which kernel it is.
class simulated_graph {
 public:
  struct handle {
    std::uint32_t index = 0;
  };
  simulated_graph(std::vector<double> ns_of_kernels, std::uint64_t bytes)
      : ns_{std::move(ns_of_kernels)}, bytes_{bytes} {}

  template <class Place, class F, class... In>
  handle emplace(Place where, F const&, In const&... in) {
    tasks_.push_back({.work = static_cast<heist::sim::ticks>(ns_.at(sizeof...(In))),
                      .bytes = bytes_,
                      .rank = static_cast<std::uint32_t>(where.rank),
                      .inputs = {index(in)...}});
    return {static_cast<std::uint32_t>(tasks_.size() - 1)};
  }
  std::vector<heist::sim::rank_task> const& tasks() const noexcept { return tasks_; }

 private:
  static std::uint32_t index(handle h) { return h.index; }
  template <class Taken>
  static std::uint32_t index(Taken const& t) {
    return t.from.index;
  }
  std::vector<double> ns_;
  std::uint64_t bytes_;
  std::vector<heist::sim::rank_task> tasks_;
};

/// Of tiles so large: to make one, to factor, to solve, to update.
inline std::vector<double> measure_kernels(std::size_t size) {
  auto const diagonal = example::make_tile(0, 0, size, size * 16), other = example::make_tile(1, 0, size, size * 16);
  auto l = diagonal;
  example::factor(l, size);
  auto x = diagonal;
  return {least(7, [&] { x = example::make_tile(0, 0, size, size * 16); }),
          least(7, [&] { x = diagonal, example::factor(x, size); }),
          least(7, [&] { x = other, example::solve(l, x, size); }),
          least(7, [&] { example::update(other, other, x, size); })};
}

inline heist::sim::rank_report simulated_cholesky(std::vector<double> const& kernels, std::size_t n, std::size_t size,
                                                  int ranks, heist::sim::network const& network) {
  simulated_graph g{kernels, size * size * sizeof(double)};
  example::add_cholesky(g, n, size, heist::place::block_cyclic::square(ranks), [](heist::context, char) {});
  return heist::sim::simulate_ranks(g.tasks(),
                                    {.ranks = static_cast<std::uint32_t>(ranks), .workers = 1, .network = network});
}

/// Of this process, since it began.
inline double cpu_us() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return 1e6 * static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/// Measures the network, predicts the factorisation on these ranks and on more, and runs it on these.
inline void predict(heist::world& world, heist::executor<>& ex, std::size_t n, std::size_t size) {
  auto const network = measure_network(world, ex);
  auto const kernels = measure_kernels(size);
  heist::distributed_graph g{world};
  example::add_cholesky(g, n, size, heist::place::block_cyclic::square(world.size()), [](heist::context, char) {});
  int const times = n <= 8 ? 500 : 15;
  double const us = least_of_runs(world, ex, g, times) / 1000;
  double const used = cpu_us();
  for (int i = 0; i < times; ++i) ex.run(g).get();
  double const cpu = (cpu_us() - used) / times;
  if (world.rank() != 0) return;
  std::printf("network: latency %llu ns, crossing %llu ns, link %.3f ns/byte, copying %.3f ns/byte\n",
              static_cast<unsigned long long>(network.latency), static_cast<unsigned long long>(network.crossing),
              network.link, network.copying);
  std::printf("kernels: make %.1f, factor %.1f, solve %.1f, update %.1f us\n", kernels[0] / 1000, kernels[1] / 1000,
              kernels[2] / 1000, kernels[3] / 1000);
  auto const here = simulated_cholesky(kernels, n, size, world.size(), network);
  double const simulated = static_cast<double>(here.makespan) / 1000, busy = static_cast<double>(here.busy[0]) / 1000;
  std::printf("%d ranks of 1 worker: measured %.0f us (least of %d), simulated %.0f us: %.2f of it\n", world.size(), us,
              times, simulated, simulated / us);
  std::printf("CPU of rank 0 a run: measured %.0f us, the thread for MPI included, simulated %.0f us: %.2f of it\n",
              cpu, busy, busy / cpu);
  auto const one = static_cast<double>(simulated_cholesky(kernels, n, size, 1, network).makespan);
  for (int const ranks : {1, 2, 4, 8, 16, 32, 64}) {
    auto const many = static_cast<double>(simulated_cholesky(kernels, n, size, ranks, network).makespan);
    std::printf("simulated, %2d ranks of 1 worker: %8.0f us, %5.2f times as fast as one\n", ranks, many / 1000,
                one / many);
  }
}

}  // namespace bench
