// The program of fork_heist.cpp.
#include <cstdio>
#include <taskflow/taskflow.hpp>

static long fib(long n, tf::Runtime& rt) {
  if (n < 2) return n;
  long a, b;
  rt.silent_async([&a, n](tf::Runtime& child) { a = fib(n - 1, child); });
  b = fib(n - 2, rt);
  rt.corun();
  return a + b;
}

int main() {
  tf::Executor ex;
  tf::Taskflow g;
  g.emplace([](tf::Runtime& rt) { std::printf("%ld\n", fib(20, rt)); });
  ex.run(g).get();
}
