// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A task that wants a number which nobody gives it.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.submit([] { return 1; }).get();
#else
  ex.submit([](int n) { return n; }).get();
#endif
}
