// expect: a distributed graph has no conditions
// A condition, of which other ranks would not know what it has chosen.
#include <heist/distributed/graph.hpp>

void distributed_condition(heist::world& w) {
  heist::distributed_graph g{w};
#ifdef HEIST_FIXED
  g.emplace(heist::on(0), [] { return 1; });
#else
  g.emplace_condition([] { return 1; });
#endif
}
