// expect: a future has one taker, and this one would be left without
// A task that comes after a future which its owner keeps.
#include <heist/async.hpp>

#include <utility>

int main() {
  heist::executor ex{1};
  heist::future<int> one = ex.submit([] { return 1; });
#ifdef HEIST_FIXED
  ex.submit(heist::after(std::move(one)), [](int) {}).get();
#else
  ex.submit(heist::after(one), [](int) {}).get();
#endif
}
