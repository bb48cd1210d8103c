// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A fork whose second callable wants a number.
#include <heist/heist.hpp>

#include <tuple>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.invoke([](heist::context c) { return std::get<1>(c.fork_join([] {}, [] { return 1; })); });
#else
  ex.invoke([](heist::context c) { return std::get<1>(c.fork_join([] {}, [](int n) { return n; })); });
#endif
}
