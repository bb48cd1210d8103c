// fib by fork_join on one worker, timed: the cost of a fork that no thief steals.
#pragma once

#include <heist/heist.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace neighbours {

template <class Context>
long fib(Context ctx, long n) {
  if (n < 2) return n;
  auto [a, b] = ctx.fork_join([=](Context c) { return fib(c, n - 1); }, [=](Context c) { return fib(c, n - 2); });
  return a + b;
}

/// PROGRAM [N]: prints the ns per call of fib(N), 35 without.
inline int measure(int argc, char** argv) {
  long const n = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 35;
  heist::executor ex{1};
  auto const begin = std::chrono::steady_clock::now();
  long const result = ex.invoke([n](auto ctx) { return fib(ctx, n); });
  std::chrono::duration<double, std::nano> const took = std::chrono::steady_clock::now() - begin;
  long before = 0, number = 1;
  for (long i = 0; i < n; ++i) before = std::exchange(number, before + number);
  if (result != before) return std::puts("wrong"), 1;
  std::printf("%.4f\n", took.count() / static_cast<double>(2 * number - 1));
  return 0;
}

}  // namespace neighbours
