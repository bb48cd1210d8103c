// Distributed graphs on processes, as one program, because each takes compilers half a minute; under mpirun:
//
//   random GRAPHS TASKS   against one process       forever     until it is killed, by kill.sh
//   promises              see there                 large MIB   one value of that size, for machines with 5 times that
//   sizes SECONDS MIB     values of 0 to MIB MiB    orders      two graphs that the ranks run in different orders
//   movers GRAPHS TASKS   as random and promises, and every value with bytes comes by a request of its own
//
// With HEIST_TEST_STARPU, StarPU-MPI moves the values: in `random` all, in the others the large ones.
#if defined(HEIST_TEST_STARPU)
#include <heist/distributed_starpu.hpp>
#else
#include <heist/distributed.hpp>
#endif
#include <heist/executor.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "forever.hpp"
#include "promises.hpp"
#include "sizes.hpp"
#include "support/random_distributed.hpp"

namespace {

int random_graphs(heist::world& world, unsigned graphs, std::size_t tasks) {
  heist::executor ex{static_cast<std::size_t>(1 + world.rank() % 2)};  // one worker, and ranks with different numbers
  int wrong = 0;
  for (unsigned seed = 0; seed < graphs; ++seed)
    wrong += heist_test::random_distributed{seed, world.size(), tasks}.play(world, ex);
  std::printf("rank %d of %d: %u graphs of %zu tasks, 3 runs each: %d wrong\n", world.rank(), world.size(), graphs,
              tasks, wrong);
  return wrong != 0;
}

/// From the first rank to the last.
int large_value(heist::world& world, std::size_t mebibytes) {
  heist::executor ex{1};
  heist::distributed_graph g{world};
  std::size_t const n = (mebibytes << 20) / sizeof(std::uint64_t);
  auto const v = g.emplace(heist::on(0), [n] {
    std::vector<std::uint64_t> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = i * 0x9e3779b97f4a7c15u;
    return all;
  });
  std::size_t wrong = 0;
  g.emplace(
      heist::on(world.size() - 1),
      [&](std::vector<std::uint64_t>&& x) {
        wrong = x.size() != n;
        for (std::size_t i = 0; i < x.size(); ++i) wrong += x[i] != i * 0x9e3779b97f4a7c15u;
        std::printf("a value of %zu bytes came: %zu wrong\n", x.size() * sizeof x[0], wrong);
      },
      heist::take(v));
  ex.run(g).get();
  return wrong != 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::string const mode = argc > 1 ? argv[1] : "promises";
  auto const number = [&](int i, int fallback) {
    return static_cast<unsigned>(argc > i ? std::atoi(argv[i]) : fallback);
  };
  heist::world_options options;
  if (mode == "promises" || mode == "orders") options.window = std::size_t{1} << 20;
#if defined(HEIST_TEST_STARPU)
  std::size_t const small = mode == "random" ? 0 : heist::distributed::starpu_engine::together_up_to;
  heist::world world{heist::distributed::starpu(argc, argv, options.pause, small), options};
#else
  using engine = heist::distributed::engine_of<heist::distributed::mpi_engine>;
  std::size_t const small = mode == "movers" ? 0 : heist::distributed::mpi_engine::together_up_to;
  heist::world world{std::make_unique<engine>(argc, argv, options.pause, small), options};
#endif
  if (mode == "movers") return random_graphs(world, number(2, 20), number(3, 60)) + ranks_test::promises(world);
  if (mode == "random") return random_graphs(world, number(2, 100), number(3, 60));
  if (mode == "large") return large_value(world, number(2, 3000));
  if (mode == "sizes") return ranks_test::sizes(world, number(2, 10), std::size_t{number(3, 16)} << 20);
  if (mode == "orders") {
    heist::executor ex{2};
    return ranks_test::graphs_in_any_order(world, ex), 0;
  }
  if (mode == "forever") ranks_test::go_on_forever(world);
  return ranks_test::promises(world);
}
