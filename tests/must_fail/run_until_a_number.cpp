// expect: run_until\(\) asks `done\(\)` after each run
// lines: 18
// A graph that is to run until some number is reached, of which nobody says which.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
  heist::task_graph g;
  int n = 0;
#ifdef HEIST_FIXED
  ex.run_until(g, [&n] { return ++n == 3; }).get();
#else
  ex.run_until(g, n == 3).get();
#endif
}
