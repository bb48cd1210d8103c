// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// A task without a handle that wants a text.
#include <heist/heist.hpp>

#include <string>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.post([] {});
#else
  ex.post([](std::string const&) {});
#endif
}
