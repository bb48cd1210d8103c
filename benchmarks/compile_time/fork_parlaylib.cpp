// The program of fork_heist.cpp.
#include <parlay/parallel.h>

#include <cstdio>

static long fib(long n) {
  if (n < 2) return n;
  long a, b;
  parlay::par_do([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

int main() {
  std::printf("%ld\n", fib(20));
}
