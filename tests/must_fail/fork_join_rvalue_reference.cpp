// expect: a task cannot return an rvalue reference
// lines: 15
// A fork whose result would refer to what it moves from.
#include <heist/heist.hpp>

#include <tuple>
#include <utility>

int main() {
  heist::executor ex{1};
  int n = 0;
  return ex.invoke([&n](heist::context c) -> int {
#ifdef HEIST_FIXED
    return std::get<0>(c.fork_join([&n]() -> int { return std::move(n); }, [] {}));
  });
#else
    return std::get<0>(c.fork_join([&n]() -> int&& { return std::move(n); }, [] {}));
  });
#endif
}
