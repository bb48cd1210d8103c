// expect: heist: the idle policy has a slept\(\) that heist would never call
// A slept() that may throw would never be called.
#include <heist/policy.hpp>

struct mine : heist::idle::adaptive {
#ifdef HEIST_FIXED
  void slept(std::uint64_t) noexcept {}
#else
  void slept(std::uint64_t) {}
#endif
};

int main() {
  heist::policy::bundle<heist::victim::random, mine> const policy;
  static_cast<void>(policy);
}
