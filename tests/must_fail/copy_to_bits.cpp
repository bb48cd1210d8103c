// expect: the elements of this range are bits, and a word of them cannot be written by two threads at
// A copy of truths into a std::vector<bool>.
#include <heist/algorithm.hpp>

#include <vector>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  std::vector<char> v{1, 0}, w(2);
#else
  std::vector<bool> v{1, 0}, w(2);
#endif
  heist::copy(ex, v, w.begin());
}
