// heist::scope: any number of children, all of which end before it does; and heist::fork_join outside of tasks.
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::context;

using heist_test::slow;

namespace {

void tree(context ctx, int left, std::atomic<long>& leaves) {
  if (left == 0) {
    ++leaves;
    return;
  }
  heist::scope children{ctx};
  for (int i = 0; i < 3; ++i) children.fork([&leaves, left](context c) { tree(c, left - 1, leaves); });
}

}  // namespace

TEST_CASE("scope: join() returns after all children, and it may be used again", "[fork]") {
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"scope", 60s, [&] { return ex.state_text(); }};
    int const rounds = slow ? 50 : 500;
    bool const right = ex.invoke([&](context ctx) {
      heist::scope s{ctx};
      s.join();
      for (int round = 0; round < rounds; ++round) {
        std::vector<int> plain(static_cast<std::size_t>(round % 50), 0);  // the join orders them
        for (int& p : plain) s.fork([&p, round] { p = round; });
        s.join();
        for (int const p : plain) {
          if (p != round) return false;
        }
      }
      return true;
    });
    CHECK(right);
  }
}

TEST_CASE("scope: its destructor joins", "[fork]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"destructor", 60s, [&] { return ex.state_text(); }};
  for (int round = 0; round < (slow ? 20 : 200); ++round) {
    std::atomic<int> n{0};
    ex.invoke([&](context ctx) {
      heist::scope s{ctx};
      for (int i = 0; i < 20; ++i) s.fork([&] { ++n; });
    });
    REQUIRE(n == 20);
  }
}

TEST_CASE("scope: one of the children's exceptions is rethrown, once, after all have finished", "[fork]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"exceptions", 60s, [&] { return ex.state_text(); }};
  for (int round = 0; round < (slow ? 20 : 200); ++round) {
    std::atomic<int> n{0};
    bool joined_twice = false;
    CHECK_THROWS_WITH(ex.invoke([&](context ctx) {
      heist::scope s{ctx};
      for (int i = 0; i < 20; ++i) {
        s.fork([&n, i] {
          ++n;
          if (i % 5 == 0) throw std::runtime_error{"child"};
        });
      }
      try {
        s.join();
      } catch (std::runtime_error const&) {
        s.join();  // nothing is left to throw
        joined_twice = true;
      }
      s.fork([] { throw std::runtime_error{"from the destructor"}; });
    }),
                      "from the destructor");
    REQUIRE(joined_twice);
    REQUIRE(n == 20);
  }
}

TEST_CASE("scope: left by an exception, it joins and lets that exception through", "[fork]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"unwinding", 60s, [&] { return ex.state_text(); }};
  for (int round = 0; round < (slow ? 20 : 200); ++round) {
    std::atomic<int> n{0};
    CHECK_THROWS_WITH(ex.invoke([&](context ctx) {
      heist::scope s{ctx};
      for (int i = 0; i < 20; ++i) {
        s.fork([&](context c) {
          c.submit([&] { ++n; }).get();  // the scope's frame must park while it unwinds
          throw std::runtime_error{"child"};
        });
      }
      throw std::logic_error{"own"};
    }),
                      "own");
    REQUIRE(n == 20);
  }
}

TEST_CASE("scope: scopes within scopes, on 1, 2, 4 and 16 workers", "[fork]") {
  int const depth = slow ? 5 : 8;
  long const expected = slow ? 243 : 6561;
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"tree of scopes", 60s, [&] { return ex.state_text(); }};
    for (int round = 0; round < 3; ++round) {
      std::atomic<long> leaves{0};
      ex.invoke([&](context ctx) { tree(ctx, depth, leaves); });
      REQUIRE(leaves == expected);
    }
  }
}

TEST_CASE("scope: more children than memory should hold run all the same", "[fork]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"many children", 60s, [&] { return ex.state_text(); }};
  int const children = slow ? 20000 : 500000;
  std::atomic<int> n{0};
  ex.invoke([&](context ctx) {
    heist::scope s{ctx};
    for (int i = 0; i < children; ++i) s.fork([&] { n.fetch_add(1, std::memory_order_relaxed); });
  });
  CHECK(n == children);
}

TEST_CASE("scope: callables of every size, also those that move only, are destroyed", "[fork]") {
  heist::executor ex{2};
  auto const kept = std::make_shared<int>(1);
  ex.invoke([&](context ctx) {
    heist::scope s{ctx};
    for (int i = 0; i < 100; ++i) {
      s.fork([kept] {});
      s.fork([kept, padding = std::array<char, 100>{}] { static_cast<void>(padding); });
      s.fork([kept, padding = std::array<char, 1000>{}] { static_cast<void>(padding); });
      s.fork([kept, p = std::make_unique<int>(2)] { static_cast<void>(p); });
    }
  });
  CHECK(kept.use_count() == 1);
}

TEST_CASE("scope: without a context it belongs to the calling task, under every order", "[fork]") {
  auto const sum_on = [](auto& ex) {
    return ex.invoke([] {
      std::vector<long> parts(20, 0);
      heist::scope<> children;
      for (std::size_t i = 0; i != parts.size(); ++i) {
        children.fork([&part = parts[i], i] {
          heist::scope<> own;
          own.fork([&part, i] { part += static_cast<long>(i); });
          own.fork([](context c) { CHECK_FALSE(c.stop_requested()); });
        });
      }
      children.join();
      children.fork([] { throw std::runtime_error{"as with a context"}; });
      CHECK_THROWS_WITH(children.join(), "as with a context");
      return std::accumulate(parts.begin(), parts.end(), 0L);
    });
  };
  heist::executor<> first{3};
  CHECK(sum_on(first) == 190);
  using child_first = heist::policy::bundle<heist::victim::random, heist::idle::standard, heist::order::child_first>;
  heist::executor<child_first> second{2};
  CHECK(sum_on(second) == 190);
  CHECK_THROWS_AS(heist::scope<>{}, heist::executor_error);
}

TEST_CASE("fork_join: without a context it runs inside tasks and outside", "[fork]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"free fork_join", 60s, [&] { return ex.state_text(); }};
  auto const outside = heist::fork_join([] { return 1; }, [] {}, [] { return std::string{"three"}; });
  CHECK(std::get<0>(outside) == 1);
  CHECK(std::get<2>(outside) == "three");
  int const inside = ex.invoke([] {
    auto const [a, b] = heist::fork_join([] { return 1; }, [] { return 2; });
    return a + b;
  });
  CHECK(inside == 3);
  CHECK(ex.invoke([] {
    auto const r = heist::fork_join([](context c) { return c.submit([] { return 5; }).get(); });
    return std::get<0>(r);
  }) == 5);
  CHECK_THROWS_AS(heist::fork_join([](context) {}), heist::executor_error);
  int later = 0;
  CHECK_THROWS_AS(heist::fork_join([] { throw 1; }, [&] { ++later; }), int);
  CHECK(later == 0);
}
