// expect: a function, predicate, comparison or projection of an algorithm must be callable
// A sort of numbers by a comparison of texts.
#include <heist/algorithm.hpp>

#include <string>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::sort(ex, v, [](int a, int b) { return a < b; });
#else
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::sort(ex, v, [](std::string const& a, std::string const& b) { return a < b; });
#endif
}
