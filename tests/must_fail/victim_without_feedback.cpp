// expect: heist: the victim policy has no feedback\(\) that hears
// A victim policy that cannot be told what came of an attempt.
#include <heist/policy.hpp>

struct mine {
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random& random) noexcept {
    return random.below(me.workers);
  }
#ifdef HEIST_FIXED
  void feedback(std::uint32_t, heist::victim::outcome) noexcept {}
#endif
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
