// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// Something to run and wait for that wants two contexts.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  return ex.invoke([](auto) { return 1; });
#else
  return ex.invoke([](auto, auto) { return 1; });
#endif
}
