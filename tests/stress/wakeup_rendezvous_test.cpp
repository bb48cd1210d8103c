// Work conservation: two tasks that wait for each other by spinning run at once on two workers, however they came.
#include <atomic>
#include <chrono>
#include <thread>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

template <class Idle>
using with = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;

struct meet_point {
  std::atomic<int> here{0};
  void attend(int people) {
    here.fetch_add(1);
    for (unsigned spins = 1; here.load() < people; ++spins) {
      if (spins % 128 == 0) heist::os_env::yield();  // the other may need this very core
      heist::os_env::relax();
    }
  }
};

}  // namespace

#define ALL_IDLE_POLICIES heist::idle::adaptive, heist::idle::spinning, heist::idle::bws, heist::idle::standard

TEMPLATE_TEST_CASE("rendezvous: two tasks posted from outside meet", "[stress]", ALL_IDLE_POLICIES) {
  heist::fast_random random{heist_test::stress_seed("rendezvous from outside")};
  with<TestType> ex{2};
  heist_test::watchdog guard{"rendezvous from outside", std::chrono::seconds{heist_test::stress_limit(60)},
                             [&] { return ex.state_text(); }};
  for (int i = heist_test::stress_rounds(10000); i > 0; --i) {
    meet_point m;
    ex.post([&m] { m.attend(2); });
    if (i % 16 == 0) {
      for (auto n = random.below(2000); n != 0; --n) heist::os_env::relax();
    }
    ex.post([&m] { m.attend(2); });
    ex.wait_idle();
  }
  SUCCEED();
}

TEMPLATE_TEST_CASE("rendezvous: two tasks pushed by one task meet", "[stress]", ALL_IDLE_POLICIES) {
  static_cast<void>(heist_test::stress_seed("rendezvous from inside"));
  with<TestType> ex{2};
  heist_test::watchdog guard{"rendezvous from inside", std::chrono::seconds{heist_test::stress_limit(60)},
                             [&] { return ex.state_text(); }};
  for (int i = heist_test::stress_rounds(10000); i > 0; --i) {
    meet_point m;
    ex.post([&] {
      ex.post([&m] { m.attend(2); });
      ex.post([&m] { m.attend(2); });
    });
    ex.wait_idle();
  }
  SUCCEED();
}

TEMPLATE_TEST_CASE("rendezvous: a task meets the one it pushed, and four meet on four workers", "[stress]",
                   ALL_IDLE_POLICIES) {
  static_cast<void>(heist_test::stress_seed("rendezvous of pusher and pushed"));
  {
    with<TestType> ex{2};
    heist_test::watchdog guard{"pusher and pushed", std::chrono::seconds{heist_test::stress_limit(60)},
                               [&] { return ex.state_text(); }};
    for (int i = heist_test::stress_rounds(5000); i > 0; --i) {
      meet_point m;
      ex.post([&] {
        ex.post([&m] { m.attend(2); });
        m.attend(2);
      });
      ex.wait_idle();
    }
  }
  with<TestType> ex{4};
  heist_test::watchdog guard{"four meet", std::chrono::seconds{heist_test::stress_limit(60)},
                             [&] { return ex.state_text(); }};
  for (int i = heist_test::stress_rounds(1000); i > 0; --i) {
    meet_point m;
    ex.post([&] {
      for (int k = 0; k < 4; ++k) ex.post([&m] { m.attend(4); });
    });
    ex.wait_idle();
  }
  SUCCEED();
}
