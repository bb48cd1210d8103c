// Children that use what belongs to their parent: its scope, its context, a region entered with it.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "heist/core/base/assert.hpp"
#include "heist/fork_join.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "support/catch.hpp"
#include "unit/fork/every_way.hpp"

using namespace std::chrono_literals;
using heist_test::in_every_way;
using heist_test::slow;

namespace {

constexpr int rounds = slow ? 3 : 20;

/// Passes contexts by reference, so that every call uses the first context.
template <class Context>
long fib(Context& c, int n) {
  if (n < 2) return n;
  auto const [a, b] = c.fork_join([&] { return fib(c, n - 1); }, [&] { return fib(c, n - 2); });
  return a + b;
}
template <class Context>
long tree(Context& c, int n) {
  if (n == 0) return 1;
  auto const again = [&] { return tree(c, n - 1); };
  auto const [x, y, z] = c.fork_join(again, again, again);
  return x + y + z;
}

}  // namespace

TEST_CASE("elsewhere: a child forks into its parent's scope, and so do its children", "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<int> ran{0};
    heist::scope s{c};
    for (int i = 0; i < 8; ++i) {
      s.fork([&] {
        ++ran;
        for (int k = 0; k < 4; ++k) {
          s.fork([&](auto d) {
            ++ran;
            d.fork_join([&] { s.fork([&] { ++ran; }); }, [&] { ++ran; });
          });
        }
      });
    }
    s.join();
    REQUIRE(ran == 8 + 32 * 3);
    s.fork([&] { s.fork([&] { ++ran; }); });  // it can be used again
    s.join();
    REQUIRE(ran == 8 + 32 * 3 + 1);
  });
}

TEST_CASE("elsewhere: only a grandchild forks into the scope, from a child that is called in place", "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<int> ran{0};
    heist::scope s{c};
    auto const more = [&] { s.fork([&] { ++ran; }); };
    c.fork_join(more, more, more);
    s.join();
    REQUIRE(ran == 3);
  });
}

TEST_CASE("elsewhere: exceptions of children that children have forked reach join()", "[fork]") {
  in_every_way(rounds, [](auto c) {
    heist::scope s{c};
    s.fork([&] { s.fork([] { throw std::runtime_error{"grandchild"}; }); });
    CHECK_THROWS_WITH(s.join(), "grandchild");
  });
}

TEST_CASE("elsewhere: many children are forked by a child while the frame waits", "[fork]") {
  int const many = slow ? 6000 : 20000;  // more than a deque takes before children are called at once
  in_every_way(1, [many](auto c) {
    std::atomic<int> ran{0};
    heist::scope s{c};
    s.fork([&](auto d) {
      d.submit([] { std::this_thread::sleep_for(1ms); }).get();
      for (int i = 0; i < many; ++i) s.fork([&] { ++ran; });
    });
    s.join();
    REQUIRE(ran == many);
  });
}

TEST_CASE("elsewhere: forks with the context of an ancestor", "[fork]") {
  in_every_way(rounds, [](auto c) {
    REQUIRE(fib(c, 12) == 144);
    REQUIRE(tree(c, 4) == 81);
  });
}

TEST_CASE("elsewhere: a stolen child forks with its parent's context while the parent joins it", "[fork]") {
  // The parent's slot looks free for a moment then.
  for (std::size_t const workers : {2u, 4u}) {
    heist::executor<heist_test::parent_first> ex{workers};
    heist_test::watchdog guard{ex, 120s, "joined meanwhile"};
    for (heist_test::rounds left{slow ? 50 : 3000}; left.next();) {
      REQUIRE(ex.invoke([](heist::context c) { return tree(c, 4); }) == 81);
    }
  }
}

TEST_CASE("elsewhere: children of scopes and submitted tasks fork with the context of an ancestor", "[fork]") {
  in_every_way(3, [](auto c) {
    std::array<long, 8> found{};
    heist::scope s{c};
    for (long& x : found) s.fork([&] { x = fib(c, slow ? 10 : 18); });
    auto submitted = c.submit([&] { return fib(c, 12); });
    s.join();
    REQUIRE(submitted.get() == 144);
    for (long const x : found) REQUIRE(x == (slow ? 55 : 2584));
  });
}

TEST_CASE("elsewhere: the context of an ancestor says where the calling code runs, and what stops it", "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<int> wrong{0}, told{0};
    auto const same = [&](auto d) {
      if (c.worker_id() != d.worker_id() || c.squad_id() != d.squad_id()) ++wrong;
    };
    heist::scope s{c};
    for (int i = 0; i < 8; ++i) {
      s.fork([&](auto d) {
        same(d);
        d.fork_join(same, same);
        same(d);
      });
    }
    s.join();
    c.submit(same).get();
    REQUIRE(wrong == 0);
    s.fork([&] {
      bool const before = c.stop_requested();
      s.request_stop();
      if (!before && c.stop_requested() && c.stop_token().stop_requested()) ++told;
    });
    s.join();
    REQUIRE(told == 1);
    REQUIRE(!c.stop_requested());
  });
}

TEST_CASE("elsewhere: a deep recursion with the context of the outermost task", "[fork]") {
  // Deeper than the task stack holds: slots past its end are written by every fork.
  heist::executor<heist_test::parent_first> ex{heist::options{.workers = 2, .stack_size = std::size_t{64} << 20}};
  heist_test::watchdog guard{ex, 120s, "deep"};
  int const depth = slow ? 5000 : 20000;
  struct chain {
    static int down(heist::context& c, int n) {
      if (n == 0) return 0;
      auto const [a, b] = c.fork_join([&] { return down(c, n - 1); }, [] { return 1; });
      return a + b;
    }
    static int down_three(heist::context& c, int n) {
      if (n == 0) return 0;
      auto const [a, b, d] = c.fork_join([&] { return down_three(c, n - 1); }, [] { return 1; }, [] { return 1; });
      return a + b + d;
    }
  };
  CHECK(ex.invoke([&](heist::context c) { return chain::down(c, depth); }) == depth);
  CHECK(ex.invoke([&](heist::context c) { return chain::down_three(c, depth / 2); }) == depth / 2 * 2);
}

TEST_CASE("elsewhere: a scope is made from the context of an ancestor", "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<int> ran{0};
    auto const inner = [&] {
      heist::scope s{c};
      for (int i = 0; i < 5; ++i) s.fork([&](auto d) { ran += static_cast<int>(fib(d, 5)); });
      s.fork([&] { s.fork([&] { ++ran; }); });
    };
    c.fork_join(inner, inner);
    REQUIRE(ran == 2 * (5 * 5 + 1));
  });
}

TEST_CASE("elsewhere: a region is entered with the context of an ancestor", "[fork]") {
  in_every_way(rounds, [](auto c) {
    auto const enter = [&] {
      heist::region r{{.boundary_level = 2}};
      return c.invoke(r, [](auto d) { return fib(d, 6); });
    };
    auto const [a, b] = c.fork_join(enter, enter);
    REQUIRE(a == 8);
    REQUIRE(b == 8);
  });
}

TEST_CASE("elsewhere: joins of a frame, and of its context in its last child, have places of their own", "[fork]") {
  heist::executor<heist::policy::replay> ex{3};
  heist_test::watchdog guard{ex, 120s, "joins"};
  heist::region r;
  for (int i = 0; i < rounds; ++i) {
    std::atomic<bool> inner_goes_on{false}, outer_goes_on{false};
    auto const until = [](std::atomic<bool>& flag) {
      return [&flag] {
        while (!flag) std::this_thread::yield();
        std::this_thread::sleep_for(2ms);  // by then the setter waits for this child: both joins are noted
      };
    };
    ex.invoke(r, [&](auto c) {
      c.fork_join(until(outer_goes_on), [&] {
        c.fork_join(until(inner_goes_on), [&] { inner_goes_on = true; });
        outer_goes_on = true;
      });
    });
    REQUIRE(r.explain() == "");
    REQUIRE_FALSE(r.tree().empty());
  }
}

#if HEIST_CHECKED
TEST_CASE("elsewhere: children of scopes, and other tasks, fork with the context of the task that made them",
          "[fork]") {
  in_every_way(rounds, [](auto c) {
    std::atomic<long> sum{0};
    heist::scope s{c};
    for (int i = 0; i < 8; ++i) s.fork([&] { sum += fib(c, 6); });
    s.join();
    REQUIRE(sum == 64);
  });
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s, "kept contexts"};
    for (int i = 0; i < rounds; ++i) {
      long const f = ex.invoke([](heist::context c) { return c.submit([&] { return fib(c, 8); }).get(); });
      REQUIRE(f == 21);
      std::optional<heist::context> kept;
      ex.invoke([&](heist::context c) { kept.emplace(c); });
      REQUIRE(ex.invoke([&](heist::context) { return fib(*kept, 8); }) == 21);
    }
  }
}
#endif
