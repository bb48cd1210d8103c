// expect: takes the value that x returned, and x returns none
// A task that takes the value of a task that leaves none.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  auto made = g.emplace([] { return 1; });
  g.emplace([](int&&) {}, heist::take(made));
#else
  auto made = g.emplace([] {});
  g.emplace([] {}, heist::take(made));
#endif
}
