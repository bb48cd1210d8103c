// Scopes in the inter-squad tier whose frames do other work after they have forked: meanwhile another squad's head
// deals out their children. A frame here waits for a child by other means than heist; it would wait for ever if the
// child began only at the join.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <vector>

#include "heist/core/observe/observer.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "support/yield.hpp"
#include "unit/fork/tiers.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::all_free;
using heist_test::slow;
using heist_test::works;

namespace {

constexpr int rounds = slow ? 5 : 50;

void until(std::atomic<int> const& n, int value) {
  while (n.load(std::memory_order_acquire) != value) heist_test::yield();
}

}  // namespace

TEST_CASE("tiers: a scope's child runs beside its frame", "[fork]") {
  for (auto const& machine : {heist_test::two_by_two(), heist_test::four_by_four(), heist_test::one_worker_each()}) {
    heist::executor<heist::policy::cab> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    region r{{.boundary_level = 2}};
    for (int i = 0; i < rounds; ++i) {
      ex.invoke(r, [](auto c) {
        std::atomic<int> ran{0};
        heist::scope s{c};
        s.fork([&] { ran.fetch_add(1, std::memory_order_release); });
        until(ran, 1);  // the frame's own work
        s.join();
      });
      CHECK(all_free(ex));
    }
    CHECK(works(ex));
  }
}

TEST_CASE("tiers: what a scope forks in portions runs beside its frame, and once", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 3}};
  for (int i = 0; i < rounds; ++i) {
    ex.invoke(r, [](auto c) {
      std::vector<std::atomic<int>> times(100);
      std::atomic<int> ran{0};
      heist::scope s{c};
      std::size_t forked = 0;
      for (std::size_t const portion : {1, 2, 40, 7}) {
        for (std::size_t k = 0; k != portion; ++k, ++forked) {
          s.fork([&times, &ran, forked](auto d) {
            heist_test::fib(d, 3);
            ++times[forked];
            ran.fetch_add(1, std::memory_order_release);
          });
        }
        until(ran, static_cast<int>(forked));
      }
      for (; forked != times.size(); ++forked) s.fork([&times, forked] { ++times[forked]; });
      s.join();
      for (auto const& t : times) CHECK(t == 1);
    });
    CHECK(all_free(ex));
  }
}

TEST_CASE("tiers: frames of several squads collect at the same time, and join while heads deal", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 4}};
  for (int i = 0; i < rounds; ++i) {
    std::atomic<int> leaves{0};
    ex.invoke(r, [&](auto c) {
      auto const part = [&](auto d) {
        for (int again = 0; again < 20; ++again) {
          heist::scope s{d};
          for (int k = 0; k < 10; ++k) s.fork([&] { ++leaves; });
          heist_test::yield();  // some are claimed by now, some not
          s.join();
        }
      };
      c.fork_join(part, part, part);
    });
    CHECK(leaves == 600);
    CHECK(all_free(ex));
  }
}

TEST_CASE("tiers: an exception of a child that another squad has dealt, and a frame that ends by one", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.boundary_level = 2}};
  for (int i = 0; i < rounds; ++i) {
    std::atomic<int> ran{0};
    auto const body = [&](auto c) {
      heist::scope s{c};
      s.fork([&] {
        ran.fetch_add(1, std::memory_order_release);
        throw 7;
      });
      until(ran, 1);
      s.join();
    };
    CHECK_THROWS_AS(ex.invoke(r, body), int);
    auto const ends = [&](auto c) {
      heist::scope s{c};
      s.fork([&] { ran.fetch_add(1, std::memory_order_release); });
      until(ran, 2);
      s.fork([] {});
      throw 8L;
    };
    CHECK_THROWS_AS(ex.invoke(r, ends), long);
    CHECK(all_free(ex));
  }
  CHECK(works(ex));
}

TEST_CASE("tiers: under a profile a scope's children begin when they are forked", "[fork]") {
  heist::executor<heist::policy::cats> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.bytes = std::size_t{1} << 30}};
  for (int i = 0; i < rounds; ++i) {
    ex.invoke(r, [](auto c) {
      std::atomic<int> ran{0};
      auto const half = [&](auto self, auto d, int left) -> void {
        if (left == 0) {
          d.footprint(std::size_t{4} << 20);
          ran.fetch_add(1, std::memory_order_release);
          return;
        }
        heist::scope s{d};
        s.fork([&](auto e) { self(self, e, left - 1); });
        s.fork([&](auto e) { self(self, e, left - 1); });
        s.join();
      };
      heist::scope s{c};
      s.fork([&](auto d) { half(half, d, 2); });
      until(ran, 4);
      s.join();
    });
    CHECK(all_free(ex));
  }
}
