// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A task that wants a value, without saying whose.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
  auto number = g.emplace([] { return 1; });
#ifdef HEIST_FIXED
  auto next = g.emplace([](int n) { return n + 1; }, number);
  g.emplace([](int) {}, next).succeed(number);
#else
  auto next = g.emplace([](int n) { return n + 1; });
  g.emplace([](int) {}, next).succeed(number);
#endif
}
