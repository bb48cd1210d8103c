// expect: a thief cannot go back before it has tried any victim
// Victim sets of no attempts.
#include <heist/core/policy/victim_set.hpp>

int main() {
#ifdef HEIST_FIXED
  constexpr unsigned attempts = 1;
#else
  constexpr unsigned attempts = 0;
#endif
  heist::victim::victim_set<attempts, 4> const policy;
  static_cast<void>(policy.wraps());
}
