// expect: heist: the victim policy has a wants_look\(\) and no looked\(\)
// A victim policy that asks for looks and cannot be told of them.
#include <heist/heist.hpp>

struct curious : heist::victim::random {
  bool wants_look() const noexcept { return false; }
#ifdef HEIST_FIXED
  void looked(std::uint32_t, heist::victim::offer const&) noexcept {}
#endif
};

int main() {
  heist::executor<heist::policy::bundle<curious, heist::idle::standard>> ex{1};
}
