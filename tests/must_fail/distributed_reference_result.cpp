// expect: cannot return a reference, which means nothing in another
// A task whose result is a reference into its process.
#include <heist/distributed/graph.hpp>

void distributed_reference_result(heist::world& w) {
  heist::distributed_graph g{w};
  static int global = 0;
#ifdef HEIST_FIXED
  g.emplace(heist::on(0), [] { return global; });
#else
  g.emplace(heist::on(0), []() -> int& { return global; });
#endif
}
