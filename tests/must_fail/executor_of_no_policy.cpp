// expect: executor<Policy> needs a policy bundle
// A policy that is none.
#include <heist/heist.hpp>

struct no_policy {};

int main() {
#ifdef HEIST_FIXED
  heist::executor<heist::policy::random> ex{1};
#else
  heist::executor<no_policy> ex{1};
#endif
}
