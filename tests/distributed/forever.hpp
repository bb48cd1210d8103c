// A program that goes on for ever, for kill.sh: says its process numbers, then sends values round and round.
#pragma once

#include <heist/distributed.hpp>
#include <heist/executor.hpp>

#include <cstdio>
#include <vector>

namespace ranks_test {

[[noreturn]] inline void go_on_forever(heist::world& world) {
  heist::executor ex{1};
  auto const all = world.members();
  if (world.rank() == 0) {
    for (auto const& m : all) std::printf("rank %d is process %ld\n", m.rank, m.pid);
    std::fflush(stdout);
  }
  heist::distributed_graph g{world};
  auto v = g.emplace(heist::on(0), [] { return std::vector<int>(30'000, 1); });
  for (int i = 1; i < 100; ++i) {
    v = g.emplace(
        heist::on(i % world.size()), [](std::vector<int> x) { return ++x[0], x; }, v);
  }
  for (;;) ex.run(g).get();
}

}  // namespace ranks_test
