// expect: a condition returns the number of its successor
// lines: 15
// A condition that forgets to say which successor runs next.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace_condition([] { return 0; });
#else
  g.emplace_condition([] {});
#endif
}
