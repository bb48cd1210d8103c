// Forks beside futures: what a parked fiber has forked can be had by others, and waits nest in joins.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>

#include "heist/core/sync/completion.hpp"
#include "support/catch.hpp"
#include "support/wait_for.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::every_policy;
using heist_test::slow;

TEMPLATE_LIST_TEST_CASE("awaited: the first task waits for what only the second, not yet begun, brings about", "[fork]",
                        every_policy) {
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "first waits for second"};
    for (int round = 0; round < (slow ? 20 : 300); ++round) {
      INFO(workers << " workers, round " << round);
      heist::detail::completion done;
      int value = 0;
      bool const right = ex.invoke([&](auto ctx) {
        auto const [a, b] = ctx.fork_join(
            [&] {
              heist_test::wait_for(done);
              return value;
            },
            [&] {
              value = 7;
              done.complete();
              return 1;
            });
        return a == 7 && b == 1;
      });
      REQUIRE(right);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("awaited: by way of a future", "[fork]", every_policy) {
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "future of a task that waits for the second"};
    for (int round = 0; round < (slow ? 20 : 300); ++round) {
      INFO(workers << " workers, round " << round);
      heist::detail::completion done;
      bool const right = ex.invoke([&](auto ctx) {
        auto const [a, b] = ctx.fork_join(
            [&](auto c) {
              return c
                  .submit([&] {
                    heist_test::wait_for(done);
                    return 3;
                  })
                  .get();
            },
            [&] {
              done.complete();
              return 4;
            });
        return a == 3 && b == 4;
      });
      REQUIRE(right);
    }
  }
}

// Leaves out policies whose frames wait without parking: with one worker, the task that the second child waits for
// would stay in the worker's deque.
TEMPLATE_LIST_TEST_CASE("awaited: both wait for tasks older than they", "[fork]", heist_test::both_orders) {
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "older tasks"};
    for (int round = 0; round < (slow ? 20 : 300); ++round) {
      REQUIRE(ex.invoke([](auto ctx) {
        auto older = ctx.submit([] { return 1; });
        auto newer = ctx.submit([] { return 2; });
        auto const [a, b] = ctx.fork_join([&] { return newer.get(); }, [&] { return older.get(); });
        return a == 2 && b == 1;
      }));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("awaited: each of many tasks waits for the next one, all forked by one frame", "[fork]",
                        heist_test::both_orders) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "chain of waits"};
    for (int round = 0; round < (slow ? 20 : 200); ++round) {
      heist::detail::completion first, second, third;
      std::atomic<int> n{0};
      ex.invoke([&](auto ctx) {
        ctx.fork_join(
            [&] {
              heist_test::wait_for(first);
              ++n;
            },
            [&] {
              heist_test::wait_for(second);
              ++n;
              first.complete();
            },
            [&] {
              heist_test::wait_for(third);
              ++n;
              second.complete();
            },
            [&] {
              ++n;
              third.complete();
            });
      });
      REQUIRE(n == 4);
    }
  }
}

namespace {

/// Each level's first task waits for what the second of the outermost level brings about: all frames are exposed.
template <class Context>
void nested(Context ctx, int left, heist::detail::completion& done, std::atomic<int>& second) {
  if (left == 0) {
    heist_test::wait_for(done);
    return;
  }
  ctx.fork_join([&, left](Context c) { nested(c, left - 1, done, second); }, [&] { ++second; });
}

/// A recursion in which every frame waits for a future between its fork and its end, on both sides.
template <class Context>
long with_waits(Context ctx, int n) {
  if (n < 2) return ctx.submit([n] { return static_cast<long>(n); }).get();
  auto const [a, b] =
      ctx.fork_join([=](Context c) { return with_waits(c, n - 1); }, [=](Context c) { return with_waits(c, n - 2); });
  return a + ctx.submit([b = b] { return b; }).get();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("awaited: the forks of all frames below a waiting one can be had", "[fork]", every_policy) {
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "all frames"};
    for (int round = 0; round < (slow ? 10 : 100); ++round) {
      heist::detail::completion done;
      std::atomic<int> second{0};
      int const depth = 1 + round % 50;
      ex.invoke(
          [&](auto ctx) { ctx.fork_join([&](auto c) { nested(c, depth, done, second); }, [&] { done.complete(); }); });
      REQUIRE(second == depth);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("awaited: waits nested in joins nested in waits", "[fork]", heist_test::both_orders) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "nested waits"};
    for (int round = 0; round < (slow ? 3 : 20); ++round) {
      INFO(workers << " workers, round " << round);
      REQUIRE(ex.invoke([](auto ctx) { return with_waits(ctx, slow ? 9 : 14); }) == (slow ? 34 : 377));
    }
  }
}

TEST_CASE("awaited: leap-frogging frames on top of each other, with waits between", "[fork]") {
  using leapfrog = heist_test::forking<heist::order::parent_first, heist::join::leapfrog>;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<leapfrog> ex{workers};
    heist_test::watchdog guard{ex, 60s, "leap-frogging and waits"};
    for (int round = 0; round < (slow ? 3 : 20); ++round) {
      INFO(workers << " workers, round " << round);
      REQUIRE(ex.invoke([](auto ctx) { return with_waits(ctx, slow ? 9 : 14); }) == (slow ? 34 : 377));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("awaited: fibers that were children become loops, and fork as loops do", "[fork]",
                        heist_test::both_orders) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "children become loops"};
  for (int round = 0; round < (slow ? 20 : 300); ++round) {
    std::atomic<int> n{0};
    ex.invoke([&](auto ctx) {
      // Leaves fibers behind that have been children.
      ctx.fork_join([&](auto c) { c.fork_join([&] { ++n; }, [&] { ++n; }); }, [&] { ++n; });
      // This frame parks: its worker continues with one of them, and forks on it.
      ctx.submit([&](auto c) {
           std::atomic<int> both{0};
           auto const meet = [&both] {
             ++both;
             while (both != 2) std::this_thread::yield();
           };
           c.fork_join(meet, meet);  // one of the two is stolen
           ++n;
         })
          .get();
      std::atomic<int> both{0};
      auto const meet = [&both] {
        ++both;
        while (both != 2) std::this_thread::yield();
      };
      ctx.fork_join(meet, meet);
    });
    REQUIRE(n == 4);
  }
}
