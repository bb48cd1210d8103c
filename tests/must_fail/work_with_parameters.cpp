// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// Work for a placeholder that wants a value.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.placeholder().work([] {}).precede(g.placeholder());
#else
  g.placeholder().work([](int) {}).precede(g.placeholder());
#endif
}
