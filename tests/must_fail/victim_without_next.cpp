// expect: heist: the victim policy has no next\(\) that names a worker
// A victim policy that names nobody.
#include <heist/heist.hpp>

struct mine {
  void feedback(std::uint32_t, heist::victim::outcome) noexcept {}
#ifdef HEIST_FIXED
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random&) noexcept {
    return me.self;
  }
#endif
};

int main() {
  heist::executor<heist::policy::bundle<mine, heist::idle::standard>> ex{1};
}
