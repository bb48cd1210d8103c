// Compares the simulator with the real executor: stress and UTS on each number of workers.
#include <heist/heist.hpp>
#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <cstdint>
#include <cstdlib>  // getloadavg
#include <limits>
#include <memory>  // unique_ptr
#include <stdexcept>
#include <string>
#include <vector>

#include "../../examples/kernels/fib.hpp"
#include "../graph/probes.hpp"
#include "../workers.hpp"
#include "commands.hpp"
#include "real_costs.hpp"
#include "real_programs.hpp"

namespace papers {
namespace {

/// Times in nanoseconds. Each is the least of all rounds.
struct taken {
  double wall = std::numeric_limits<double>::infinity();
  double cpu = wall;  ///< of all threads of this process

  template <class F>
  void measure(F const& f) {
    bench::stopwatch const watch;
    double const cpu_before = bench::process_cpu_us();
    f();
    wall = std::min(wall, 1e9 * watch.seconds());
    cpu = std::min(cpu, 1e3 * (bench::process_cpu_us() - cpu_before));
  }
};

struct times {
  taken serial;
  std::vector<taken> parallel;  ///< on each number of workers
};

/// Measures the serial program, and the parallel one on each number of workers, in turns.
template <class Kernel>
times measure(std::size_t size, unsigned rounds, std::vector<std::size_t> const& workers) {
  using executor = heist::executor<heist::policy::random>;
  std::vector<std::unique_ptr<executor>> executors;
  for (std::size_t const n : workers)
    executors.push_back(std::make_unique<executor>(heist::options{.workers = n, .stack_size = Kernel::about.stack}));
  Kernel kernel{size};
  times best;
  best.parallel.resize(workers.size());
  auto const run_on = [&](executor& ex, taken& t) {
    kernel.prepare();
    t.measure([&] { ex.invoke([&](auto ctx) { kernel.parallel(ctx); }); });
  };
  for (unsigned round = 0; round < rounds; ++round) {
    kernel.prepare();
    best.serial.measure([&] { kernel.serial(); });
    for (std::size_t i = 0; i < executors.size(); ++i) run_on(*executors[i], best.parallel[i]);
  }
  if (auto const wrong = kernel.check(); !wrong.empty()) throw std::runtime_error{wrong};
  return best;
}

/// The simulator's default costs, with the measured cost of a fork and its join.
heist::sim::costs costs_here(double fork_and_join) {
  heist::sim::costs c = costs_in_ticks();
  heist::sim::ticks const both = to_ticks(fork_and_join);
  c.fork = both / 2;
  c.join = both - both / 2;
  return c;
}

struct program {
  std::string name;
  times real;
  heist::sim::program simulated;
};

template <class Kernel>
program uts(char const* name, char const* size_means, std::size_t size, unsigned rounds,
            std::vector<std::size_t> const& workers) {
  times const t = measure<Kernel>(size, rounds, workers);
  Kernel tree{size};
  tree.serial();
  double const node = t.serial.cpu / static_cast<double>(tree.result());
  fmt::print("a node of UTS {} {:.1f} ns", name, node);
  return {fmt::format("UTS {}, {} {}: {} nodes", name, size_means, size, tree.result()), t,
          uts_for_simulator<Kernel>(size, to_ticks(node))};
}

}  // namespace

void calibrate(request const& wanted) {
  double load = 0;
  ::getloadavg(&load, 1);
  unsigned const rounds = wanted.quick ? 1 : 20 * wanted.rounds;
  std::size_t const n = wanted.quick ? 15 : 27, height = 10;
  std::vector<std::size_t> const workers = bench::worker_list(wanted.workers);
  times const fib = measure<kernels::fib>(n, rounds, {1});
  double forks = 0, previous = 0;  // forks(k) = 1 + forks(k - 1) + forks(k - 2)
  for (std::size_t k = 2; k <= n; ++k) {
    double const next = 1 + forks + previous;
    previous = forks;
    forks = next;
  }
  double const fork_and_join = std::max(0., fib.parallel[0].cpu - fib.serial.cpu) / forks;
  auto const costs = costs_here(fork_and_join);
  fmt::print("load {:.2f}; least of {} rounds. From fib({}): a fork and its join take {:.2f} ns. From serial runs:\n",
             load, rounds, n, fork_and_join);

  std::vector<program> all;
  {
    times const t = measure<kernels::stress>(height, rounds, workers);
    double const leaf = t.serial.cpu / static_cast<double>(kernels::stress::all_leaves);
    fmt::print("a leaf of stress {:.1f} ns, ", leaf);
    all.push_back({fmt::format("stress {}", height), t, stress_for_simulator(height, to_ticks(leaf))});
  }
  all.push_back(uts<kernels::uts_t1>("T1", "depth", wanted.quick ? 4 : 8, rounds, workers));
  fmt::print(", ");
  all.push_back(uts<kernels::uts_t3>("T3", "root's children", wanted.quick ? 10 : 150, (rounds + 9) / 10, workers));
  fmt::print(".\n\n");

  table t{{"program", "workers", "measured (ms)", "its CPU time / workers", "simulated (ms)", "simulated / measured",
           "simulated / CPU time", "goal"}};
  bar_panel bars{"simulated / measured", "ratio", {}, {}};
  for (std::size_t const p : workers) bars.names.push_back(fmt::format("{} worker{}", p, p == 1 ? "" : "s"));
  for (auto const& p : all) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      auto const r = heist::simulate<heist::policy::random>(
          p.simulated, {.workers = static_cast<std::uint32_t>(workers[i]), .seed = wanted.seed, .costs = costs});
      taken const& real = p.real.parallel[i];
      double const simulated = static_cast<double>(r.makespan) / static_cast<double>(ticks_per_ns);
      double const cpu = real.cpu / static_cast<double>(workers[i]);
      ratios.push_back(simulated / real.wall);
      t.add({p.name, fmt::format("{}", workers[i]), fmt::format("{:.3f}", 1e-6 * real.wall),
             fmt::format("{:.3f}", 1e-6 * cpu), fmt::format("{:.3f}", 1e-6 * simulated),
             fmt::format("{:.3f}", ratios.back()), fmt::format("{:.3f}", simulated / cpu), "0.85 to 1.15"});
    }
    bars.groups.emplace_back(p.name, ratios);
  }
  print(t);
  write_plot(wanted, "The simulator beside the real executor", {bars});
}

}  // namespace papers
