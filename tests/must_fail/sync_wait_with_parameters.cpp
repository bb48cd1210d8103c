// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// Something to run and wait for that wants two contexts.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  return ex.sync_wait([](auto) { return 1; });
#else
  return ex.sync_wait([](auto, auto) { return 1; });
#endif
}
