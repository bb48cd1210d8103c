// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A child of a scope that wants a number.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
  ex.invoke([](heist::context c) {
    heist::scope s{c};
    int const i = 1;
#ifdef HEIST_FIXED
    s.fork([i] { (void)i; });
  });
#else
    s.fork([](int) {}), (void)i;
  });
#endif
}
