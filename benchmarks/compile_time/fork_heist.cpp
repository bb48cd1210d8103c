// A first program that forks and joins.
#include <heist/fork_join.hpp>

#include <cstdio>

template <class Context>
long fib(Context ctx, long n) {
  if (n < 2) return n;
  auto [a, b] = ctx.fork_join([=](Context c) { return fib(c, n - 1); }, [=](Context c) { return fib(c, n - 2); });
  return a + b;
}

int main() {
  heist::executor ex;
  std::printf("%ld\n", ex.invoke([](auto ctx) { return fib(ctx, 20); }));
}
