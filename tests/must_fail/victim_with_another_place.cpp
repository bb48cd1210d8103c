// expect: heist: the victim policy has a place\(\) that heist would never call
// A place() without the machine would never be called.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  void place(heist::victim::thief_view const&, heist::topology::machine const&,
             heist::topology::squads const&) noexcept {}
#else
  void place(heist::victim::thief_view const&, heist::topology::squads const&) noexcept {}
#endif
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
