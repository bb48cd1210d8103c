// expect: algorithms write through iterators with random access
// A copy to the end of a vector, element by element.
#include <heist/algorithm.hpp>

#include <iterator>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1}, w(2);
  heist::copy(ex, v, w.begin());
#else
  heist::executor ex{1};
  std::vector<int> v{2, 1}, w;
  heist::copy(ex, v, std::back_inserter(w));
#endif
}
