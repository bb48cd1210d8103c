// expect: the results of fork_join are moved into its tuple
// lines: 15
// A fork whose result has to stay where it was made.
#include <heist/heist.hpp>

#include <memory>
#include <mutex>

int main() {
  heist::executor ex{1};
  ex.invoke([](heist::context c) {
#ifdef HEIST_FIXED
    c.fork_join([] { return std::make_unique<std::mutex>(); }, [] {});
  });
#else
    c.fork_join([] { return std::mutex{}; }, [] {});
  });
#endif
}
