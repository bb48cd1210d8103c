// expect: heist: the victim policy.s feedback\(\) may throw
// A victim policy that may throw when it is told what came of an attempt.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  void feedback(std::uint32_t, heist::victim::outcome) noexcept {}
#else
  void feedback(std::uint32_t, heist::victim::outcome) {}
#endif
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
