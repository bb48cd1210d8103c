// expect: a condition that returns bool would run successor 0 for false
// lines: 15
// A condition that says yes or no, where the number of a successor is wanted.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace_condition([] { return true ? 0 : 1; });
#else
  g.emplace_condition([] { return true; });
#endif
}
