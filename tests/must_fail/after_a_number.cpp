// expect: a task comes after futures, shared_futures, ranges of them and runs of graphs
#include <heist/async.hpp>

int main() {
  heist::executor ex{1};
  auto one = ex.submit([] { return 1; }).share();
#ifdef HEIST_FIXED
  ex.submit(heist::after(one), [](int) {}).get();
#else
  ex.submit(heist::after(one.get()), [](int) {}).get();
#endif
}
