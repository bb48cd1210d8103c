// What a user of heist writes. The unused variable is on purpose: a warning must stay a warning here.
#include <heist/heist.hpp>

#include <cstdio>

int main() {
  int unused_on_purpose;
  heist::executor ex{2};
  heist::task_graph g;
  auto x = g.emplace([] { return 20; });
  auto y = g.emplace([] { return 22; });
  auto sum = g.emplace([](int a, int b) { return a + b; }, x, y);
  ex.run(g).get();
  std::printf("sum %d\n", sum.result());
  return sum.result() == 42 ? 0 : 1;
}
