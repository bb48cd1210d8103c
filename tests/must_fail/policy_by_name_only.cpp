// expect: knows nothing of this policy but its name
// flags: -DHEIST_WITHOUT_TIERS
// A policy whose header is missing.
#include <heist/graph.hpp>
#ifdef HEIST_FIXED
#include <heist/tiers.hpp>
#endif

int main() {
  heist::executor<heist::policy::cab> ex;
  heist::task_graph g;
  ex.run(g).get();
}
