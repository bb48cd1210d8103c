// expect: algorithms need iterators with random access
// A loop over the iterators of a list.
#include <heist/algorithm.hpp>

#include <list>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::for_each(ex, v.begin(), v.end(), [](int) {});
#else
  heist::executor ex{1};
  std::list<int> v{2, 1};
  heist::for_each(ex, v.begin(), v.end(), [](int) {});
#endif
}
