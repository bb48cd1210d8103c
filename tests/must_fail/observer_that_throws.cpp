// expect: executor<Policy, Observer> needs an observer
// An observer is called inside the scheduler, so its members are noexcept.
#include <heist/heist.hpp>

struct watcher : heist::null_observer {
  static constexpr bool observes = true;
#ifdef HEIST_FIXED
  void sleep(std::size_t) noexcept {}
#else
  void sleep(std::size_t) {}
#endif
};

int main() {
  heist::executor<heist::policy::random, watcher> ex{1};
}
