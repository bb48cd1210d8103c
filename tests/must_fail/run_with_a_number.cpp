// expect: what follows the graph in run\(\) is a heist::with, or a callable
// lines: 18
// run(g, 3) is meant to be run_n(g, 3).
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
  heist::task_graph g;
#ifdef HEIST_FIXED
  ex.run_n(g, 3).get();
#else
  ex.run(g, 3).get();
#endif
}
