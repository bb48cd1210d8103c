// expect: this algorithm moves the elements of its range to other places, and they cannot be assigned
// A sort of a vector that is const.
#include <heist/algorithm.hpp>

#include <vector>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  std::vector<int> v{2, 1};
#else
  std::vector<int> const v{2, 1};
#endif
  heist::sort(ex, v);
}
