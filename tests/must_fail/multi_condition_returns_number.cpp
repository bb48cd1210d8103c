// expect: a multi condition returns a range of numbers
// lines: 15
// A condition that chooses several, and returns one.
#include <heist/heist.hpp>

#include <vector>

int main() {
  heist::task_graph g;
#ifdef HEIST_FIXED
  g.emplace_multi_condition([] { return std::vector<int>{1}; });
#else
  g.emplace_multi_condition([] { return 1; });
#endif
}
