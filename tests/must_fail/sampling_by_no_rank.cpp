// expect: sampling needs a rank of offers
// A rank that may throw.
#include <heist/core/policy/sampling.hpp>

struct shallow {
  static bool better(heist::victim::offer const& a, heist::victim::offer const& b)
#ifdef HEIST_FIXED
      noexcept
#endif
  {
    return a.depth < b.depth;
  }
};

int main() {
  heist::victim::sampling<2, shallow> const policy;
  static_cast<void>(policy.wants_look());
}
