// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// Several tasks at once, one of which wants a number.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  auto [a, b, c] = g.emplace([] {}, [] {}, [] {});
  a.precede(b, c);
#else
  auto [a, b, c] = g.emplace([] {}, [](int) {}, [] {});
  a.precede(b, c);
#endif
}
