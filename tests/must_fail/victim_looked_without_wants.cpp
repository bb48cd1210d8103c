// expect: heist: the victim policy has a looked\(\) and no wants_look\(\)
// A victim policy that listens and never asks.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  bool wants_look() const noexcept {
    return false;
  }
#endif
  void looked(std::uint32_t, heist::victim::offer const&) noexcept {}
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
