// expect: a task must be callable as f\(\) or f\(heist::context\)
// lines: 15
// As fork_join_with_parameters, of inter-squad tasks.
#include <heist/heist.hpp>
#include <heist/locality.hpp>

int main() {
  heist::executor<heist::policy::cab> ex{1};
#ifdef HEIST_FIXED
  ex.invoke([](heist::context c) { c.inter_fork([] {}, [] {}); });
#else
  ex.invoke([](heist::context c) { c.inter_fork([] {}, [](int) {}); });
#endif
}
