// expect: heist: the victim policy has a begin\(\) that heist would never call
// A begin() with other parameters would never be called.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  void begin(heist::victim::thief_view const&, heist::fast_random&) noexcept {}
#else
  void begin(std::uint32_t) noexcept {}
#endif
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
