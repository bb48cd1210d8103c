// Executors are born and die, with work, without, and while a foreign thread is still leaving post().
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

template <class Idle>
using with = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;

heist::options small(std::size_t workers) {
  return heist::options{.workers = workers, .stack_size = std::size_t{64} << 10};
}

}  // namespace

#define ALL_IDLE_POLICIES heist::idle::adaptive, heist::idle::spinning, heist::idle::bws, heist::idle::standard

TEMPLATE_TEST_CASE("lifetime: a thousand executors with 0 to 4 tasks each", "[stress]", ALL_IDLE_POLICIES) {
  heist::fast_random random{heist_test::stress_seed("a thousand executors")};
  heist_test::watchdog guard{"a thousand executors", std::chrono::seconds{heist_test::stress_limit(60)}};
  std::atomic<long> ran{0};
  long posted = 0;
  for (int i = heist_test::stress_rounds(1000); i > 0; --i) {
    with<TestType> ex{small(1 + random.below(4))};
    auto const tasks = random.below(5);
    for (auto t = tasks; t != 0; --t) {
      if (t % 2 == 0) {
        ex.post([&] { ++ran; });
      } else {
        ex.post([&] { ex.submit([&] { ++ran; }).get(); });
      }
    }
    posted += tasks;
    if (i % 4 == 0) ex.wait_idle();
    if (i % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds{random.below(300)});
  }
  CHECK(ran == posted);
}

TEST_CASE("lifetime: destroyed as soon as the last task of a foreign thread has run", "[stress]") {
  static_cast<void>(heist_test::stress_seed("foreign thread posts last"));
  heist_test::watchdog guard{"foreign thread posts last", std::chrono::seconds{heist_test::stress_limit(60)}};
  std::atomic<heist::executor<>*> published{nullptr};
  std::atomic<bool> over{false};
  std::atomic<bool> inside{false};
  std::thread external{[&] {
    for (;;) {
      heist::executor<>* const ex = published.exchange(nullptr);
      if (ex == nullptr) {
        if (over) return;
        heist::os_env::yield();
        continue;
      }
      ex->post([&] { inside = true; });  // the executor may be gone when this returns, not before
    }
  }};
  int const rounds = heist_test::stress_rounds(10000);
  for (int i = 0; i < rounds; ++i) {
    auto ex = std::make_unique<heist::executor<>>(small(1 + static_cast<std::size_t>(i) % 2));
    inside = false;
    published = ex.get();
    while (!inside) heist::os_env::yield();
    ex.reset();
  }
  over = true;
  external.join();
  SUCCEED();
}

TEST_CASE("lifetime: destroyed right after the future of a foreign thread is ready", "[stress]") {
  static_cast<void>(heist_test::stress_seed("future, then destruction"));
  heist_test::watchdog guard{"future, then destruction", std::chrono::seconds{heist_test::stress_limit(60)}};
  int const rounds = heist_test::stress_rounds(2000);
  for (int i = 0; i < rounds; ++i) {
    heist::executor ex{small(2)};
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) threads.emplace_back([&] { sum += ex.submit([] { return 1; }).get(); });
    for (auto& t : threads) t.join();
    REQUIRE(sum == 2);
  }
}

TEST_CASE("lifetime: executors destroyed while tasks park, steal and submit", "[stress]") {
  heist::fast_random random{heist_test::stress_seed("destroyed at work")};
  heist_test::watchdog guard{"destroyed at work", std::chrono::seconds{heist_test::stress_limit(60)}};
  int const rounds = heist_test::stress_rounds(500);
  for (int i = 0; i < rounds; ++i) {
    std::atomic<int> ran{0};
    struct spawner {
      heist::executor<>& ex;
      std::atomic<int>& ran;
      int left;
      void operator()() const {
        ++ran;
        if (left == 0) return;
        ex.post(spawner{ex, ran, left - 1});
        ex.submit(spawner{ex, ran, left - 1}).get();
      }
    };
    {
      heist::executor ex{small(1 + random.below(4))};
      ex.post(spawner{ex, ran, 5});
    }
    REQUIRE(ran == 63);
  }
}
