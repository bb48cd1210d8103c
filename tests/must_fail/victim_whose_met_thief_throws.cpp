// expect: heist: the victim policy has a met_thief\(\) that heist would never call
// A met_thief() that may throw would never be called.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  void met_thief(std::uint32_t) noexcept {}
#else
  void met_thief(std::uint32_t) {}
#endif
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
