// A task that divides its work: fork_join calls its functions, possibly in parallel, and returns their results. The
// function sum() has no context, so fork_join finds the current worker itself. Outside of executors sum() is plain
// recursion.
//
//   sum(0, 1000000)
//     sum(0, 500000)        sum(500000, 1000000)
//       ...                   ...
#include <heist/fork_join.hpp>
#include <heist/graph.hpp>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

long sum(std::span<int const> part) {
  if (part.size() <= 1000) return std::accumulate(part.begin(), part.end(), 0L);
  auto const middle = part.size() / 2;
  auto const [left, right] =
      heist::fork_join([=] { return sum(part.first(middle)); }, [=] { return sum(part.subspan(middle)); });
  return left + right;
}

// With the context as a template parameter a fork costs little more than a call.
template <class Context>
int fib(Context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] = ctx.fork_join([=](Context c) { return fib(c, n - 1); }, [=](Context c) { return fib(c, n - 2); });
  return a + b;
}

int main() {
  std::vector<int> const ones(1'000'000, 1);
  heist::executor ex;
  std::printf("outside: %ld\n", sum(ones));
  std::printf("inside:  %ld\n", ex.invoke([&] { return sum(ones); }));
  std::printf("fib(20): %d\n", ex.invoke([](auto ctx) { return fib(ctx, 20); }));

  heist::task_graph g;  // tasks of a graph can fork, too
  auto total = g.emplace([&] { return sum(ones); });
  g.emplace([](long n) { std::printf("graph:   %ld\n", n); }, total);
  ex.run(g).get();
}
