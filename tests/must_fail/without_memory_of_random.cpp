// expect: only policies with tiers remember squads
// No memory for a policy that has none.
#include <heist/policy.hpp>

int main() {
#ifdef HEIST_FIXED
  heist::policy::without_memory<heist::policy::cab> const policy{};
#else
  heist::policy::without_memory<heist::policy::random> const policy{};
#endif
  static_cast<void>(policy);
}
