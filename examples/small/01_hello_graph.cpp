// Tasks in an order: boil and chop may run at the same time, cook waits for both, and the graph runs as often as you
// like.
//
//   boil --+
//          +--> cook --> serve
//   chop --+
#include <heist/graph.hpp>

#include <atomic>
#include <cstdio>

int main() {
  heist::executor ex;  // as many workers as this process may use CPUs
  heist::task_graph dinner;

  std::atomic<int> ready{0};
  int meals = 0;
  auto boil = dinner.emplace([&] { ++ready; });
  auto chop = dinner.emplace([&] { ++ready; });
  auto cook = dinner.emplace([&] { std::printf("%d things are ready: cooking\n", ready.exchange(0)); });
  auto serve = dinner.emplace([&] { ++meals; });
  cook.succeed(boil, chop).precede(serve);

  ex.run(dinner).get();       // waits, and rethrows what a task has thrown
  ex.run_n(dinner, 2).get();  // twice more, one after the other; it allocates nothing
  std::printf("%d meals\n", meals);
}
