// expect: heist: the victim policy.s next\(\) may throw
// A victim policy that may throw in the middle of a search.
#include <heist/policy.hpp>

struct mine {
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random& random)
#ifdef HEIST_FIXED
      noexcept
#endif
  {
    return random.below(me.workers);
  }
  void feedback(std::uint32_t, heist::victim::outcome) noexcept {}
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
