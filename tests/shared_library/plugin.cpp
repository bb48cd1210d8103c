// A shared library with heist of its own, compiled with hidden visibility, so that the dynamic linker shares nothing.
#include <atomic>

#include "heist/heist.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

long fib(heist::context c, int n) {
  if (n < 2) return n;
  auto const [a, b] =
      c.fork_join([=](heist::context d) { return fib(d, n - 1); }, [=](heist::context d) { return fib(d, n - 2); });
  return a + b;
}

}  // namespace

/// With an executor of its own.
EXPORTED int work() {
  heist::executor<> ex{std::size_t{2}};
  return ex.submit([] { return 42; }).get();
}

/// With the program's, in a task of it or outside.
EXPORTED int wait_in_task(void* executor) {
  auto& ex = *static_cast<heist::executor<>*>(executor);
  int sum = 0;
  for (int i = 0; i < 100; ++i) sum += ex.submit([] { return 7; }).get();
  return sum == 700 ? 7 : -1;
}

EXPORTED long fork_in_task(void* executor) {
  auto& ex = *static_cast<heist::executor<>*>(executor);
  std::atomic<int> ran{0};
  heist::task_graph g;
  auto a = g.emplace([&] { ran += 1; }), b = g.emplace([&] { ran += ran == 1 ? 1 : 100; });
  a.precede(b);
  for (int i = 0; i < 100; ++i) {
    ran = 0;
    ex.run(g).get();
    if (ran != 2) return -1;
  }
  return ex.invoke([](heist::context c) { return fib(c, 15); });
}

/// From a thread outside.
EXPORTED int wait_until_idle(void* executor) {
  auto& ex = *static_cast<heist::executor<>*>(executor);
  std::atomic<int> n{0};
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 10; ++i) ex.post([&] { ++n; });
    ex.wait_idle();
    if (n != 10 * (round + 1)) return -1;
  }
  return 7;
}
