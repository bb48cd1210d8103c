// expect: an algorithm takes first where it runs: a heist::executor
// A number of threads where the executor belongs.
#include <heist/algorithm.hpp>

#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::sort(ex, v);
#else
  std::vector<int> v{2, 1};
  heist::sort(4, v);
#endif
}
