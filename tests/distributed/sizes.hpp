// Values of sizes around the limits at which an engine or an MPI sends in another way, and graphs that two ranks run in
// different orders.
#pragma once

#include <heist/distributed.hpp>
#include <heist/executor.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "promises.hpp"

namespace ranks_test {

/// Bytes: nothing, and the neighbourhood of each power of two from 256 on, where eager limits are; rarely `most`.
inline std::size_t any_size(std::minstd_rand& random, std::size_t most) {
  if (random() % 16 == 0) return 0;
  std::size_t limit = 256;
  while (random() % 8 != 0 && limit < 128 * 1024) limit *= 2;
  if (random() % 256 == 0) limit = most;
  // Heads of frames and messages, and the length of a vector, are between 0 and 128 bytes.
  std::size_t const size = limit + 16 - random() % 160;
  return std::min(size, most);
}

inline std::vector<char> filled(std::size_t size) {
  std::vector<char> v(size, static_cast<char>(size));
  for (std::size_t i = 0; i < size; i += 61) v[i] = static_cast<char>(i * 7 + size);
  return v;
}

/// One graph with values between all ranks at once, in both directions. Returns how many were wrong here.
inline int sizes_once(heist::world& world, heist::executor<>& ex, unsigned seed, std::size_t most) {
  std::minstd_rand random{seed + 1};
  int const n = world.size();
  std::atomic<int> wrong{0};
  heist::distributed_graph g{world};
  for (int i = 0; i < 60; ++i) {
    std::size_t const size = any_size(random, most);
    int const from = static_cast<int>(random() % static_cast<unsigned>(n)), to = (from + 1) % n;
    auto const v = g.emplace(heist::on(from), [size] { return filled(size); });
    g.emplace(
        heist::on(to), [&wrong, size](std::vector<char> const& x) { wrong += x != filled(size); }, v);
  }
  for (int run = 0; run < 2; ++run) ex.run(g).get();
  return wrong;
}

/// Graphs of random sizes for some seconds, on all ranks equally often.
inline int sizes(heist::world& world, double seconds, std::size_t most) {
  heist::executor ex{2};
  auto const begin = std::chrono::steady_clock::now();
  unsigned rounds = 0;
  int wrong = 0;
  for (bool goes_on = true; goes_on;) {
    for (int i = 0; i < 2; ++i) wrong += sizes_once(world, ex, rounds++, most);
    heist::distributed_graph g{world};  // rank 0 knows when it is over
    auto const over = g.emplace(heist::on(0), [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= seconds ? 1 : 0;
    });
    int end = 0;
    for (int r = 0; r < world.size(); ++r) {
      g.emplace(
          heist::on(r), [&end](int x) { end = x; }, over);
    }
    ex.run(g).get();
    goes_on = end == 0;
  }
  std::printf("rank %d of %d: values of 0 to %zu bytes in %u graphs: %d wrong\n", world.rank(), world.size(), most,
              rounds, wrong);
  return wrong != 0;
}

/// The ranks run two graphs in different orders. The values of each graph exceed the window. A window for both would
/// therefore keep each rank waiting for a graph that the other has not begun.
inline void graphs_in_any_order(heist::world& world, heist::executor<>& ex) {
  int const n = world.size();
  heist::distributed_graph a{world}, b{world};
  std::atomic<int> good{0};
  auto const fill = [&](heist::distributed_graph& g, std::size_t size) {
    for (int i = 0; i < 8 * n; ++i) {
      auto const v = g.emplace(heist::on(i % n), [size] { return pattern(size, 3); });
      g.emplace(
          heist::on((i + 1) % n), [&good, size](std::vector<unsigned> const& x) { good += x == pattern(size, 3); }, v);
    }
  };
  fill(a, 100'000), fill(b, 90'000);
  ex.run(a).get();
  ex.run(b).get();
  for (int round = 0; round < 4; ++round) {
    good = 0;
    bool const a_first = (world.rank() + round) % 2 == 0;
    auto& first = a_first ? a : b;
    auto& second = a_first ? b : a;
    if (round < 2) {  // both at once, and this rank waits for the second graph first
      auto const one = ex.run(first);
      auto const two = ex.run(second);
      two.get();
      one.get();
    } else if (world.rank() % 2 == 0) {  // odd ranks begin the first graph when the second one has ended
      auto const one = ex.run(a);
      ex.run(b).get();
      one.get();
    } else {
      ex.run(b).get();
      ex.run(a).get();
    }
    check(good == 16, "two graphs end in any order");
  }
}

}  // namespace ranks_test
