// expect: sampling needs a policy that names the workers
// Sampling among workers that nobody names.
#include <heist/core/policy/sampling.hpp>

struct none {};

int main() {
#ifdef HEIST_FIXED
  using named = heist::victim::random;
#else
  using named = none;
#endif
  heist::victim::sampled<named, 2> const policy;
  static_cast<void>(policy.wants_look());
}
