// expect: the given task cannot be called
// lines: 45
// A fork that is given results: the calls have been made already, one after the other.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
  auto const half = [](int n) { return n / 2; };
  return ex.invoke([&](auto c) {
#ifdef HEIST_FIXED
    auto [a, b] = c.fork_join([&] { return half(2); }, [&] { return half(4); });
    return a + b;
  });
#else
    auto [a, b] = c.fork_join(half(2), half(4));
    return a + b;
  });
#endif
}
