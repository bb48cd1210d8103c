// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// As fork_join_with_parameters, without a context at hand.
#include <heist/heist.hpp>

int main() {
#ifdef HEIST_FIXED
  heist::fork_join([] {}, [] {});
#else
  heist::fork_join([] {}, [](int) {});
#endif
}
