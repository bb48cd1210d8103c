// The first program of a user; the module's test takes the include out.
#include <heist/heist.hpp>

#include <cstdio>

int main() {
  heist::executor ex{2};
  heist::task_graph g;
  auto x = g.emplace([] { return 20; });
  auto y = g.emplace([] { return 22; });
  auto sum = g.emplace([](int a, int b) { return a + b; }, x, y);
  ex.run(g).get();
  int const forked = ex.invoke([](auto context) {
    auto const [a, b] = context.fork_join([] { return 1; }, [] { return 2; });
    return a + b;
  });
  std::printf("sum %d\n", sum.result());
  return sum.result() == 42 && forked == 3 ? 0 : 1;
}
