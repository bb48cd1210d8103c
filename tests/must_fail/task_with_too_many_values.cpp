// expect: a task must be callable as f\(\) or f\(heist::context\), with the values of the tasks it takes
// lines: 15
// A task that takes no value, where one is given.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
  auto number = g.emplace([] { return 1; });
#ifdef HEIST_FIXED
  g.emplace([](int) {}, number);
#else
  g.emplace([] {}, number);
#endif
}
