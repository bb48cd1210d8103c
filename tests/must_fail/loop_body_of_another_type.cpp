// expect: the body of a loop must be callable with what the loop gives it
// A loop over numbers whose body takes a text.
#include <heist/algorithm.hpp>

#include <string>
#include <vector>

int main() {
#ifdef HEIST_FIXED
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::for_each(ex, v, [](int) {});
#else
  heist::executor ex{1};
  std::vector<int> v{2, 1};
  heist::for_each(ex, v, [](std::string const&) {});
#endif
}
