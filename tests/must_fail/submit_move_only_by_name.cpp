// expect: a callable that cannot be copied was passed by its name
// lines: 15
// A callable that owns something, passed by its name: to keep it, it would have to be copied.
#include <heist/heist.hpp>

#include <memory>
#include <utility>

int main() {
  heist::executor ex{1};
  auto f = [n = std::make_unique<int>(1)] { return *n; };
#ifdef HEIST_FIXED
  return ex.submit(std::move(f)).get();
#else
  return ex.submit(f).get();
#endif
}
