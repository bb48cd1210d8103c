// How fast is a program on 64 cores? The simulator runs its tasks under the executor's policies on simulated workers,
// with given costs and caches. The same arguments give the same report.
//
//   a balanced tree of 4096 leaves, 10000 ticks each
#include <heist/simulate.hpp>

#include <cstdint>
#include <cstdio>

int main() {
  auto const tree = heist::sim::balanced_tree({.depth = 12, .leaf = heist::sim::fixed(10'000)});
  auto const one = heist::simulate<heist::policy::random>(tree, {.workers = 1});
  for (std::uint32_t workers : {4u, 16u, 64u}) {
    auto const many = heist::simulate<heist::policy::random>(tree, {.workers = workers});
    std::printf("%2u workers: %4.1f x\n", workers,
                static_cast<double>(one.makespan) / static_cast<double>(many.makespan));
  }
}
