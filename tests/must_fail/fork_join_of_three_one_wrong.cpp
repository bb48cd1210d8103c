// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A fork of three, of which the last wants a text.
#include <heist/heist.hpp>

#include <string>

int main() {
  heist::executor ex{1};
  ex.invoke([](heist::context c) {
#ifdef HEIST_FIXED
    c.fork_join([] {}, [] {}, [] {});
  });
#else
    c.fork_join([] {}, [] {}, [](std::string) {});
  });
#endif
}
