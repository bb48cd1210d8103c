// Measures the cost of crossing between processes: mpirun -n 2 bench_distributed MODE [N [BYTES [RUNS]]]
//
//   raw       MPI's own ping-pong, N to and fro            burst    N values made on rank 0, taken on rank 1
//   chain     N tasks, each on the other rank              wait     rank 1 waits a second for rank 0: CPU meanwhile
//   foreign   N tasks of another rank: to walk past them   cholesky N x N tiles of BYTES x BYTES numbers, 1 worker
//   heat      N x N cells, BYTES steps, 1 worker a rank   heat_mpi the same by hand in plain MPI
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

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace

int main(int argc, char** argv) {
  std::string const mode = argc > 1 ? argv[1] : "chain";
  bool const heat = mode == "heat" || mode == "heat_mpi";
  int const n = argc > 2 ? std::atoi(argv[2]) : mode == "cholesky" || mode == "network" ? 16 : heat ? 1000 : 2000;
  int const bytes = argc > 3 ? std::atoi(argv[3]) : mode == "cholesky" || mode == "network" ? 64 : heat ? 200 : 8;
  if (mode == "raw") return raw_ping_pong(n, bytes) > 0 ? 0 : 1;
#if defined(HEIST_BENCH_STARPU)
  heist::world world{heist::distributed::starpu(argc, argv, heist::world_options{}.pause, 0)};
#else
  heist::world world{argc, argv};
#endif
  int const workers = mode == "cholesky" && world.size() == 1 && argc > 4 ? std::atoi(argv[4]) : 1;
  heist::executor ex{static_cast<std::size_t>(workers)};
  if (mode == "network") {
    if (world.size() == 2)
      return bench::predict(world, ex, static_cast<std::size_t>(n), static_cast<std::size_t>(bytes)), 0;
    std::fprintf(stderr, "network is measured between two ranks: mpirun -n 2\n");
    return 1;
  }
  heist::distributed_graph g{world};
  int const other = world.size() > 1 ? 1 : 0;
  auto const size = static_cast<std::size_t>(n), steps = static_cast<std::size_t>(bytes);
  std::optional<heist::placed<double>> sum;
  double sum_by_hand = 0;
  int const runs = argc > 4 && mode != "cholesky" ? std::atoi(argv[4]) : mode == "wait" ? 3 : 21;

  auto const built = clock_type::now();
  if (mode == "chain") {
    auto v = g.emplace(heist::on(0), [] { return std::int64_t{0}; });
    for (int i = 1; i <= n; ++i)
      v = g.emplace(
          heist::on(i % 2 == 1 ? other : 0), [](std::int64_t x) { return x + 1; }, v);
  } else if (mode == "burst") {
    for (int i = 0; i < n; ++i) {
      auto const v =
          g.emplace(heist::on(0), [bytes] { return std::vector<char>(static_cast<std::size_t>(bytes), 'x'); });
      g.emplace(
          heist::on(other), [](std::vector<char> const& x) { return x[0]; }, v);
    }
  } else if (mode == "foreign") {
    auto v = g.emplace(heist::on(0), [] { return 0; });
    for (int i = 0; i < n; ++i)
      v = g.emplace(
          heist::on(0), [](int x) { return x; }, v);
  } else if (mode == "wait") {
    auto const v = g.emplace(heist::on(0), [] { return work_for(1e6), 1; });
    g.emplace(
        heist::on(other), [](int x) { return x; }, v);
  } else if (mode == "cholesky") {
    auto const place = heist::place::block_cyclic::square(world.size());
    example::add_cholesky(g, static_cast<std::size_t>(n), static_cast<std::size_t>(bytes), place,
                          [](heist::context, char) {});
  } else if (mode == "heat") {
    sum = bench::add_heat(g, world.size(), size, steps);
  } else if (mode != "heat_mpi") {
    std::fprintf(stderr, "no such mode: %s\n", mode.c_str());
    return 1;
  }
  double const build = us_since(built) / n;
  std::vector<double> us, cpu;
  double const cpu_before = cpu_us();
  for (int i = 0; i < runs; ++i) {
    world.barrier();
    double const used = cpu_us();
    auto const begin = clock_type::now();
    if (mode == "heat_mpi") {
      sum_by_hand = bench::heat_by_hand(MPI_COMM_WORLD, size, steps);
    } else {
      ex.run(g).get();
    }
    us.push_back(us_since(begin));
    cpu.push_back((cpu_us() - used) / us.back());
  }
  double const cpu_each = (cpu_us() - cpu_before) / runs / n;
  std::sort(us.begin(), us.end());
  std::sort(cpu.begin(), cpu.end());
  double const median = us[us.size() / 2];
  std::printf(
      "rank %d of %d: %s n=%d bytes=%d: median %.1f us (%.1f to %.1f); each: least %.3f us, median %.3f us, CPU %.3f "
      "us; "
      "build %.1f ns each; CPU %.1f %%\n",
      world.rank(), world.size(), mode.c_str(), n, bytes, median, us.front(), us.back(), us.front() / n, median / n,
      cpu_each, build * 1000, 100 * cpu[cpu.size() / 2]);
  if (heat && world.rank() == 0) std::printf("sum %.3f\n", sum ? sum->result() : sum_by_hand);
}
