// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A task that forks off another one, which wants its argument.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.invoke([](heist::context c) { return c.submit([] { return 1; }).get(); });
#else
  ex.invoke([](heist::context c) { return c.submit([](int n) { return n; }).get(); });
#endif
}
