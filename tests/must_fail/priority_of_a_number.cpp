// expect: a task.s priority is a heist::priority and no number
// lines: 15
// A number as a priority.
#include <heist/graph.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace([] {}).priority(heist::priority(10));
#else
  g.emplace([] {}).priority(10);
#endif
}
