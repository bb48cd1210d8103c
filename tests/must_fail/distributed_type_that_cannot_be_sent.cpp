// expect: its type, or a part of it, cannot
// A value with pointers in it, which mean nothing in another process.
#include <heist/distributed/graph.hpp>

#include <memory>
#include <vector>

void distributed_type_that_cannot_be_sent(heist::world& w) {
  heist::distributed_graph g{w};
#ifdef HEIST_FIXED
  auto made = g.emplace(heist::on(0), [] { return std::vector<int>{}; });
  g.emplace([](std::vector<int> const&) {}, made);
#else
  auto made = g.emplace(heist::on(0), [] { return std::vector<std::unique_ptr<int>>{}; });
  g.emplace([](std::vector<std::unique_ptr<int>> const&) {}, made);
#endif
}
