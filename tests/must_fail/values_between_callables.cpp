// expect: after the callable come the tasks whose values it takes, or more callables
// lines: 15
// Two tasks at once, where only one says what it takes.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
  auto number = g.emplace([] { return 1; });
#ifdef HEIST_FIXED
  g.emplace([](int) {}, number);
  g.emplace([] {});
#else
  g.emplace([](int) {}, number, [] {});
#endif
}
