// expect: the callable of ctx.blocking\(\) takes no arguments, and no context
#include <heist/executor.hpp>

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.submit([](heist::context c) { return c.blocking([] { return 1; }); }).get();
#else
  ex.submit([](heist::context c) { return c.blocking([](heist::context) { return 1; }); }).get();
#endif
}
