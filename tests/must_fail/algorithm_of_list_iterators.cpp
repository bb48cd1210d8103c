// expect: algorithms need iterators with random access
// A sort of a list.
#include <heist/algorithm.hpp>

#include <list>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::sort(ex, v.begin(), v.end());
#else
  heist::executor ex{1};
  std::list<int> v{2, 1};
  heist::sort(ex, v.begin(), v.end());
#endif
}
