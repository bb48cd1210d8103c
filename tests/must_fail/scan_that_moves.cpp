// expect: a scan reads its elements twice, so it cannot move out of them
// A scan over a std::move_iterator.
#include <heist/algorithm.hpp>

#include <iterator>
#include <string>
#include <vector>

int main() {
  heist::executor ex{1};
  std::vector<std::string> v(2), w(2);
#ifdef HEIST_FIXED
  auto const first = v.begin(), last = v.end();
#else
  auto const first = std::make_move_iterator(v.begin()), last = std::make_move_iterator(v.end());
#endif
  heist::inclusive_scan(ex, first, last, w.begin());
}
