// expect: a histogram needs the number of each element.s bin
// A histogram of fractions without a function that names their bins.
#include <heist/algorithm.hpp>

#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<double> v{2, 1};
  heist::histogram(ex, v, 3, [](double x) { return static_cast<int>(x); });
#else
  heist::executor ex{1};
  std::vector<double> v{2, 1};
  heist::histogram(ex, v, 3);
#endif
}
