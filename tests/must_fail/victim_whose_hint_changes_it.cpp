// expect: heist: the victim policy has a wants_look\(\) or looked\(\) that heist would never call
// A wants_look() that is not const.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  bool wants_look() const noexcept {
    return false;
  }
#else
  bool wants_look() noexcept {
    return false;
  }
#endif
  void looked(std::uint32_t, heist::victim::offer const&) noexcept {}
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
