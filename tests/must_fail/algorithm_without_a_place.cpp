// expect: this algorithm was called without the executor that it runs on
// lines: 15
// A loop over a range alone.
#include <heist/algorithm.hpp>

#include <vector>

int main() {
  heist::executor ex{1};
  std::vector<int> v(3);
#ifdef HEIST_FIXED
  heist::for_each(ex, v, [](int&) {});
#else
  heist::for_each(v, [](int&) {});
#endif
}
