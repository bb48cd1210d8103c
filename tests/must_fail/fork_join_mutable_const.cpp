// expect: a callable that is const cannot be called, because its call would change it
// lines: 15
// A fork of a constant whose call would change it.
#include <heist/heist.hpp>

int main() {
  heist::executor ex{1};
  ex.invoke([](heist::context c) {
#ifdef HEIST_FIXED
    auto f = [n = 0]() mutable { return ++n; };
    c.fork_join(f, [] {});
  });
#else
    auto const f = [n = 0]() mutable { return ++n; };
    c.fork_join(f, [] {});
  });
#endif
}
