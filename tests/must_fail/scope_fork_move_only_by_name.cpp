// expect: a callable that cannot be copied was passed by its name
// lines: 15
// As submit_move_only_by_name.
#include <heist/heist.hpp>

#include <memory>
#include <utility>

int main() {
  heist::executor ex{1};
  ex.invoke([](heist::context c) {
    auto f = [n = std::make_unique<int>(1)] { return *n; };
    heist::scope s{c};
#ifdef HEIST_FIXED
    s.fork(std::move(f));
  });
#else
    s.fork(f);
  });
#endif
}
