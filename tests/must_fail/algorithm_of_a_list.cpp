// expect: algorithms need a range with random access and a known size
// A sort of a list.
#include <heist/algorithm.hpp>

#include <list>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::sort(ex, v);
#else
  heist::executor ex{1};
  std::list<int> v{2, 1};
  heist::sort(ex, v);
#endif
}
