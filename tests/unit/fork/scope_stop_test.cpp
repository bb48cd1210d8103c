// scope::request_stop(): children that have not begun are skipped, running children see the request, and the scope may
// be used again.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "heist/fork_join.hpp"
#include "support/catch.hpp"
#include "support/yield.hpp"
#include "unit/fork/every_way.hpp"

using namespace std::chrono_literals;
using heist_test::in_every_way;
using heist_test::slow;

namespace {
constexpr int rounds = slow ? 3 : 20;
}

TEST_CASE("scope stop: after it nothing is forked, until the next join()", "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<int> ran{0};
    heist::scope s{c};
    for (int k = 0; k < 3; ++k) {
      s.request_stop();
      for (int i = 0; i < 10; ++i) s.fork([&] { ran += 100; });
      s.join();
      CHECK_FALSE(c.stop_requested());
      for (int i = 0; i < 10; ++i) s.fork([&] { ++ran; });
      s.join();
      REQUIRE(ran == 10 * (k + 1));
    }
  });
}

TEST_CASE("scope stop: a child stops its siblings; skipped callables are destroyed", "[fork]") {
  in_every_way(rounds, [](auto c) {
    auto const alive = std::make_shared<int>(0);
    std::atomic<int> ran{0}, told{0};
    {
      heist::scope s{c};
      for (int i = 0; i < 100; ++i) {
        s.fork([&, alive](auto d) {
          ++ran;
          s.request_stop();
          // This child runs, so it sees the request, and so do its children.
          d.fork_join([&](auto e) { told += e.stop_requested() ? 1 : 0; },
                      [&](auto e) { told += e.stop_requested() ? 1 : 0; });
          heist::scope inner{d};
          inner.fork([&](auto e) { told += e.stop_requested() ? 1 : 0; });
        });
      }
      s.join();
      CHECK_FALSE(c.stop_requested());
    }
    REQUIRE(alive.use_count() == 1);
    REQUIRE(ran >= 1);
    REQUIRE(told == 3 * ran);
  });
}

TEST_CASE("scope stop: children that wait in a deque are skipped", "[fork]") {
  heist::executor<heist_test::parent_first> ex{1};
  heist_test::watchdog guard{ex, 60s, "deque"};
  std::atomic<int> ran{0};
  ex.invoke([&](heist::context c) {
    heist::scope s{c};
    for (int i = 0; i < 1000; ++i) s.fork([&] { ++ran; });  // no other worker is there to begin one
    s.request_stop();
  });
  CHECK(ran == 0);
}

TEST_CASE("scope stop: it reaches nobody but the scope's own children", "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<bool> over{false};
    std::atomic<int> told{0}, not_told{0};
    auto const look = [&](auto d) { ++(d.stop_requested() ? told : not_told); };
    // The second is forked below a scope that is stopped, and stolen while its child runs, or called afterwards.
    c.fork_join(
        [&](auto d) {
          heist::scope s{d};
          s.request_stop();
          s.join();
          for (int i = 0; i < 4; ++i) {
            s.fork([&](auto e) {
              s.request_stop();
              std::this_thread::sleep_for(50us);
              e.fork_join(look, look);
            });
          }
          s.join();
          over = true;
        },
        [&](auto d) {
          for (int i = 0; i < 20; ++i) {
            CHECK_FALSE(d.stop_requested());
            heist_test::yield();
          }
        },
        [&](auto d) { CHECK_FALSE(d.stop_requested()); });
    REQUIRE(over);
    REQUIRE(not_told == 0);
  });
}

TEST_CASE("scope stop: from another thread", "[fork]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s, "another thread"};
  for (int round = 0; round < rounds; ++round) {
    ex.invoke([&](heist::context c) {
      std::atomic<bool> begun{false};
      heist::scope s{c};
      std::thread other{[&] {
        while (!begun) std::this_thread::yield();
        s.request_stop();
      }};
      s.fork([&](heist::context d) {
        begun = true;
        while (!d.stop_requested()) std::this_thread::yield();
      });
      other.join();
      s.join();
    });
  }
  SUCCEED();
}
