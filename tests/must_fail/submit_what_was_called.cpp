// expect: the given task cannot be called
// lines: 15
// The result of a call, where the callable is wanted.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
  auto const twice = [](int n) { return 2 * n; };
#ifdef HEIST_FIXED
  return ex.submit([&] { return twice(21); }).get();
#else
  return ex.submit(twice(21)).get();
#endif
}
