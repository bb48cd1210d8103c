// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// The body of a region that wants the region.
#include <heist/heist.hpp>
#include <heist/locality.hpp>

int main() {
  heist::executor ex{1};
  heist::region r;
#ifdef HEIST_FIXED
  return ex.invoke(r, [](auto) { return 1; });
#else
  return ex.invoke(r, [](heist::region&) { return 1; });
#endif
}
