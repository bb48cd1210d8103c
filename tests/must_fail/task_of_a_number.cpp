// expect: the given task cannot be called
// lines: 15
// A value, where something that returns it is wanted.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  heist::task<int> t = g.emplace([] { return 42; });
  t.precede(g.placeholder());
#else
  heist::task<int> t = g.emplace(42);
  t.precede(g.placeholder());
#endif
}
