// expect: runs where its first argument is, and this one has none
// A task of which nothing says on which rank it runs.
#include <heist/distributed/graph.hpp>

void distributed_task_without_place(heist::world& w) {
  heist::distributed_graph g{w};
#ifdef HEIST_FIXED
  g.emplace(heist::on(0), [] { return 1; });
#else
  g.emplace([] { return 1; });
#endif
}
