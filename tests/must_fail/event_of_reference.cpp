// expect: an event's value comes from another thread and is kept by the graph
// An event whose value would be a reference.
#include <heist/heist.hpp>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace_event<int*>();
#else
  g.emplace_event<int&>();
#endif
}
