// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A condition that wants a value.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace_condition([] { return 0; });
#else
  g.emplace_condition([](int n) { return n; });
#endif
}
