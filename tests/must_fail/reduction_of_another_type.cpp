// expect: the operation of a reduction must be callable with two values
// A sum of numbers from an empty text.
#include <heist/algorithm.hpp>

#include <string>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::reduce(ex, v, 0, [](int a, int b) { return a + b; });
#else
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::reduce(ex, v, std::string{}, [](int a, int b) { return a + b; });
#endif
}
