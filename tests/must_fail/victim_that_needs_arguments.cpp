// expect: heist: the victim policy cannot be made without arguments
// Each worker has a policy of its own, which the executor makes.
#include <heist/policy.hpp>

struct mine : heist::victim::random {
#ifdef HEIST_FIXED
  mine() = default;
#endif
  explicit mine(int) {}
};

int main() {
  heist::policy::bundle<mine, heist::idle::standard> const policy;
  static_cast<void>(policy);
}
