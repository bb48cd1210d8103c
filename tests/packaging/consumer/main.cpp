// A typical user's program, with heist as one header. The unused variable is on purpose: a warning must stay a warning
// here.
#include "heist.hpp"

#include <cstddef>
#include <cstdio>

int main() {
  int unused_on_purpose;
  heist::executor ex{2};
  heist::task_graph g;
  auto x = g.emplace([] { return 20; });
  auto y = g.emplace([] { return 22; });
  auto sum = g.emplace([](int a, int b) { return a + b; }, x, y);
  ex.run(g).get();

  // Enough to instantiate most templates: none may warn.
  heist::region phase{{.branching = 2, .bytes = std::size_t{1} << 20}};
  heist::executor<heist::policy::cab> cab{2};
  heist::executor<heist::policy::replay> replay{2};
  auto const work = [](auto context) {
    auto const [a, b] = context.fork_join([](auto) { return 1; }, [] { return 2; });
    heist::scope children{context};
    children.fork([] {});
    children.join();
    return a + b;
  };
  int const forked = ex.invoke(work) + cab.invoke(phase, work) + replay.invoke(phase, work) + ex.submit(work).get();
  if (forked != 12) return 1;
  std::printf("sum %d\n", sum.result());
  return sum.result() == 42 ? 0 : 1;
}
