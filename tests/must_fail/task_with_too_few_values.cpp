// expect: a task must be callable as f\(\) or f\(heist::context\), with the values of the tasks it takes
// lines: 15
// A task that takes two values, of one task.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
  auto number = g.emplace([] { return 1; });
#ifdef HEIST_FIXED
  g.emplace([](int, int) {}, number, number);
#else
  g.emplace([](int, int) {}, number);
#endif
}
