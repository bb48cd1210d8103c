// Tasks with an order: boil and chop may run at the same time, and cook waits for both. A graph can run any number of
// times.
//
//   boil --+
//          +--> cook --> serve
//   chop --+
#include <heist/graph.hpp>

#include <atomic>
#include <cstdio>

int main() {
  heist::executor ex;  // one worker for each CPU that this process may use
  heist::task_graph dinner;

  std::atomic<int> ready{0};
  int meals = 0;
  auto boil = dinner.emplace([&] { ++ready; });
  auto chop = dinner.emplace([&] { ++ready; });
  auto cook = dinner.emplace([&] { std::printf("%d things are ready: cooking\n", ready.exchange(0)); });
  auto serve = dinner.emplace([&] { ++meals; });
  cook.succeed(boil, chop).precede(serve);

  ex.run(dinner).get();       // waits, and rethrows the exception of a task
  ex.run_n(dinner, 2).get();  // two more runs, one after the other, without allocations
  std::printf("%d meals\n", meals);
}
