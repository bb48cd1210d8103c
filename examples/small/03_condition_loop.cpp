// A loop in a graph: a condition returns the number of the successor that runs next, counted from 0.
//
//   start --> halve --> again? - - 0 - -> halve
//                            \ - - 1 - -> done
#include <heist/graph.hpp>

#include <cstdio>

int main() {
  heist::executor ex;
  heist::task_graph g;

  int n = 0, steps = 0;
  auto start = g.emplace([&] { n = 100, steps = 0; });
  auto halve = g.emplace([&] { n /= 2, ++steps; });
  auto again = g.emplace_condition([&] { return n > 0 ? 0 : 1; });
  auto done = g.emplace([&] { std::printf("100 can be halved %d times\n", steps); });
  start.precede(halve);
  halve.precede(again);
  again.precede(halve, done);  // 0: halve, 1: done

  ex.run(g).get();
}
