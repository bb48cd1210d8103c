// expect: a condition returns the number of its successor
// lines: 15
// A condition that says the name of its successor.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace_condition([] { return 1; }).precede(g.placeholder());
#else
  g.emplace_condition([] { return "left"; }).precede(g.placeholder());
#endif
}
