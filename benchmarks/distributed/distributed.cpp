// Measures the cost of crossing between processes: mpirun -n 2 bench_distributed MODE [N [BYTES [RUNS]]] [--workers LIST]
//
//   raw       MPI's own ping-pong, N to and fro            burst    N values made on rank 0, taken on rank 1
//   chain     N tasks, each on the other rank              wait     rank 1 waits a second for rank 0: CPU meanwhile
//   foreign   N tasks of another rank: to walk past them   cholesky N x N tiles of BYTES x BYTES numbers
//   heat      N x N cells, BYTES steps                     heat_mpi the same by hand in plain MPI
//   network   the costs of the simulator's network here; its prediction for the factorisation, and the measured time
//
// bench_distributed_starpu is the same with all values moved by StarPU-MPI's requests.
#if defined(HEIST_BENCH_STARPU)
#include <heist/distributed_starpu.hpp>
#else
#include <heist/distributed.hpp>
#endif
#include <heist/executor.hpp>

#include <sys/resource.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "../workers.hpp"
#include "factorisation.hpp"
#include "heat.hpp"
#include "network.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double us_since(clock_type::time_point t) {
  return std::chrono::duration<double, std::micro>(clock_type::now() - t).count();
}
double cpu_us() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return 1e6 * static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}
void work_for(double us) {
  auto const begin = clock_type::now();
  while (us_since(begin) < us) {
  }
}

/// Runs before other code uses MPI. Returns microseconds for each way.
double raw_ping_pong(int n, int bytes) {
  int rank = 0, size = 0, given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<char> data(static_cast<std::size_t>(bytes));
  auto const begin = clock_type::now();
  for (int i = 0; i < n && size > 1 && rank < 2; ++i) {
    if (i % 2 == rank) {
      MPI_Send(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  double const us = us_since(begin) / n;
  MPI_Finalize();
  if (rank == 0) std::printf("raw n=%d bytes=%d: %.3f us a message\n", n, bytes, us);
  return us;
}

struct request {
  std::string mode = "chain";
  int n = 0, bytes = 0, runs = 0;
  bool heat() const { return mode == "heat" || mode == "heat_mpi"; }
  bool tiles() const { return mode == "cholesky" || mode == "network"; }
};

/// Adds the tasks of a mode. Heat has a result.
std::optional<heist::placed<double>> add_tasks(heist::distributed_graph& g, int ranks, request const& what) {
  int const n = what.n, bytes = what.bytes, other = ranks > 1 ? 1 : 0;
  auto const size = static_cast<std::size_t>(n), steps = static_cast<std::size_t>(bytes);
  if (what.mode == "chain") {
    auto v = g.emplace(heist::on(0), [] { return std::int64_t{0}; });
    for (int i = 1; i <= n; ++i)
      v = g.emplace(
          heist::on(i % 2 == 1 ? other : 0), [](std::int64_t x) { return x + 1; }, v);
  } else if (what.mode == "burst") {
    for (int i = 0; i < n; ++i) {
      auto const v =
          g.emplace(heist::on(0), [bytes] { return std::vector<char>(static_cast<std::size_t>(bytes), 'x'); });
      g.emplace(
          heist::on(other), [](std::vector<char> const& x) { return x[0]; }, v);
    }
  } else if (what.mode == "foreign") {
    auto v = g.emplace(heist::on(0), [] { return 0; });
    for (int i = 0; i < n; ++i)
      v = g.emplace(
          heist::on(0), [](int x) { return x; }, v);
  } else if (what.mode == "wait") {
    auto const v = g.emplace(heist::on(0), [] { return work_for(1e6), 1; });
    g.emplace(
        heist::on(other), [](int x) { return x; }, v);
  } else if (what.mode == "cholesky") {
    auto const place = heist::place::block_cyclic::square(ranks);
    example::add_cholesky(g, size, steps, place, [](heist::context, char) {});
  } else if (what.mode == "heat") {
    return bench::add_heat(g, ranks, size, steps);
  }
  return std::nullopt;
}

/// With so many workers a rank.
void measure(heist::world& world, request const& what, std::size_t workers) {
  heist::executor ex{workers};
  auto const size = static_cast<std::size_t>(what.n), steps = static_cast<std::size_t>(what.bytes);
  if (what.mode == "network") return bench::predict(world, ex, size, steps);
  heist::distributed_graph g{world};
  double sum_by_hand = 0;
  auto const built = clock_type::now();
  auto const sum = add_tasks(g, world.size(), what);
  double const build = us_since(built) / what.n;
  std::vector<double> us, cpu;
  double const cpu_before = cpu_us();
  for (int i = 0; i < what.runs; ++i) {
    world.barrier();
    double const used = cpu_us();
    auto const begin = clock_type::now();
    if (what.mode == "heat_mpi") {
      sum_by_hand = bench::heat_by_hand(MPI_COMM_WORLD, size, steps);
    } else {
      ex.run(g).get();
    }
    us.push_back(us_since(begin));
    cpu.push_back((cpu_us() - used) / us.back());
  }
  double const cpu_each = (cpu_us() - cpu_before) / what.runs / what.n;
  std::sort(us.begin(), us.end());
  std::sort(cpu.begin(), cpu.end());
  double const median = us[us.size() / 2];
  std::printf(
      "rank %d of %d, workers %zu: %s n=%d bytes=%d: median %.1f us (%.1f to %.1f); each: least %.3f us, median %.3f "
      "us, CPU %.3f us; build %.1f ns each; CPU %.1f %%\n",
      world.rank(), world.size(), workers, what.mode.c_str(), what.n, what.bytes, median, us.front(), us.back(),
      us.front() / what.n, median / what.n, cpu_each, build * 1000, 100 * cpu[cpu.size() / 2]);
  if (what.heat() && world.rank() == 0) std::printf("sum %.3f\n", sum ? sum->result() : sum_by_hand);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measures the cost of crossing between processes: mpirun -n 2 bench_distributed MODE"};
  request what;
  std::string list = "1";
  app.add_option("mode", what.mode, "what is measured")
      ->check(CLI::IsMember({"raw", "chain", "burst", "foreign", "wait", "cholesky", "heat", "heat_mpi", "network"}));
  app.add_option("n", what.n, "how many tasks, cells or tiles; each mode has its default");
  app.add_option("bytes", what.bytes, "of a value; the steps of heat; the size of a tile");
  app.add_option("runs", what.runs, "runs of the graph");
  bench::add_workers_option(app, list, ", of each rank");
  CLI11_PARSE(app, argc, argv);
  if (what.n <= 0) what.n = what.tiles() ? 16 : what.heat() ? 1000 : 2000;
  if (what.bytes <= 0) what.bytes = what.tiles() ? 64 : what.heat() ? 200 : 8;
  if (what.runs <= 0) what.runs = what.mode == "wait" ? 3 : 21;
  if (what.mode == "raw") return raw_ping_pong(what.n, what.bytes) > 0 ? 0 : 1;
#if defined(HEIST_BENCH_STARPU)
  heist::world world{heist::distributed::starpu(argc, argv, heist::world_options{}.pause, 0)};
#else
  heist::world world{argc, argv};
#endif
  if (what.mode == "network" && world.size() != 2) {
    std::fprintf(stderr, "network is measured between two ranks: mpirun -n 2\n");
    return 1;
  }
  for (std::size_t const workers : bench::worker_list(list)) measure(world, what, workers);
}
