// expect: takes the context of another kind of executor
// lines: 15
// A task for child-first executors, given to a parent-first one.
#include <heist/heist.hpp>

using child_first = heist::policy::with_order<heist::policy::random, heist::order::child_first>;

int main() {
  heist::executor ex{1};
#ifdef HEIST_FIXED
  ex.submit([](heist::context) {}).get();
#else
  ex.submit([](heist::executor<child_first>::context_type) {}).get();
#endif
}
