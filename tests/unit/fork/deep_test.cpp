// Recursions deeper than a fiber's task stack has slots: right, with exceptions from the bottom too.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::slow;

namespace {

constexpr int deep = 6000;
static_assert(deep > static_cast<int>(heist::detail::fiber::slots));

template <class Context>
long two(Context ctx, int left, bool fails) {
  if (left == 0) {
    if (fails) throw std::runtime_error{"bottom"};
    return 0;
  }
  auto const [a, b] = ctx.fork_join([=](Context c) { return two(c, left - 1, fails); }, [] { return 1L; });
  return a + b;
}

/// The second goes deeper: at each level the first is over already.
template <class Context>
long other_two(Context ctx, int left, bool fails) {
  if (left == 0) {
    if (fails) throw std::runtime_error{"bottom"};
    return 0;
  }
  auto const [a, b] = ctx.fork_join([] { return 1L; }, [=](Context c) { return other_two(c, left - 1, fails); });
  return a + b;
}

template <class Context>
long four(Context ctx, int left, bool fails, std::atomic<long>& siblings) {
  if (left == 0) {
    if (fails) throw std::runtime_error{"bottom"};
    return 0;
  }
  auto const sibling = [&] {
    siblings.fetch_add(1, std::memory_order_relaxed);
    return 1L;
  };
  auto const [a, b, c, d] =
      ctx.fork_join([&, left](Context c) { return four(c, left - 1, fails, siblings); }, sibling, sibling, sibling);
  return a + b + c + d;
}

/// Forks without a context: each fork looks up its place again.
long free_two(int left) {
  if (left == 0) return 0;
  auto const [a, b] = heist::fork_join([=] { return free_two(left - 1); }, [] { return 1L; });
  return a + b;
}

/// Forks in scopes: their children look up their place again, too.
template <class Context>
long in_scopes(Context ctx, int left) {
  if (left == 0) return 0;
  long deeper = 0;
  auto const [a, b] = ctx.fork_join(
      [&, left](Context c) {
        heist::scope s{c};
        s.fork([&, left](Context d) { deeper = in_scopes(d, left - 1); });
        s.join();
        return 1L;
      },
      [] { return 1L; });
  return deeper + a + b;
}

}  // namespace

using every_join =
    std::tuple<heist_test::parent_first, heist_test::forking<heist::order::parent_first, heist::join::leapfrog>,
               heist_test::forking<heist::order::parent_first, heist::join::spin>>;

TEMPLATE_LIST_TEST_CASE("deep: parent-first recursions deeper than the task stack", "[fork]", every_join) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{heist::options{.workers = workers, .stack_size = std::size_t{256} << 20}};
    heist_test::watchdog guard{ex, 60s, "deep recursion"};
    for (int round = 0; round < (slow ? 2 : 5); ++round) {
      INFO(workers << " workers, round " << round);
      REQUIRE(ex.invoke([](auto ctx) { return two(ctx, deep, false); }) == deep);
      REQUIRE(ex.invoke([](auto ctx) { return other_two(ctx, deep, false); }) == deep);
      std::atomic<long> siblings{0};
      REQUIRE(ex.invoke([&](auto ctx) { return four(ctx, deep, false, siblings); }) == 3L * deep);
      REQUIRE(siblings == 3L * deep);
      CHECK_THROWS_WITH(ex.invoke([](auto ctx) { return two(ctx, deep, true); }), "bottom");
      CHECK_THROWS_WITH(ex.invoke([](auto ctx) { return other_two(ctx, deep, true); }), "bottom");
      siblings = 0;
      CHECK_THROWS_WITH(ex.invoke([&](auto ctx) { return four(ctx, deep, true, siblings); }), "bottom");
      REQUIRE(siblings == 3L * deep);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("deep: without a context, and through scopes, deeper than the task stack", "[fork]",
                        every_join) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{heist::options{.workers = workers, .stack_size = std::size_t{256} << 20}};
    heist_test::watchdog guard{ex, 60s, "deep recursion without a context"};
    for (int round = 0; round < (slow ? 2 : 5); ++round) {
      INFO(workers << " workers, round " << round);
      REQUIRE(ex.invoke([] { return free_two(deep); }) == deep);
      REQUIRE(ex.invoke([](auto ctx) { return in_scopes(ctx, deep); }) == 2L * deep);
    }
  }
}

TEST_CASE("deep: child-first recursions, a stack for each level", "[fork]") {
  int const depth = slow ? 500 : deep;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<heist_test::child_first> ex{
        heist::options{.workers = workers, .stack_size = std::size_t{64} << 10}};
    heist_test::watchdog guard{ex, 60s, "deep child-first recursion"};
    for (int round = 0; round < (slow ? 2 : 5); ++round) {
      INFO(workers << " workers, round " << round);
      REQUIRE(ex.invoke([&](auto ctx) { return two(ctx, depth, false); }) == depth);
      std::atomic<long> siblings{0};
      REQUIRE(ex.invoke([&](auto ctx) { return four(ctx, depth, false, siblings); }) == 3L * depth);
      CHECK_THROWS_WITH(ex.invoke([&](auto ctx) { return two(ctx, depth, true); }), "bottom");
      siblings = 0;
      CHECK_THROWS_WITH(ex.invoke([&](auto ctx) { return four(ctx, depth, true, siblings); }), "bottom");
      REQUIRE(siblings == 3L * depth);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("deep: forks work as before after a recursion deeper than the task stack", "[fork]",
                        heist_test::both_orders) {
  heist::executor<TestType> ex{heist::options{.workers = 2, .stack_size = std::size_t{64} << 20}};
  heist_test::watchdog guard{ex, 60s, "after a deep recursion"};
  int const depth = slow ? 500 : deep;
  for (int round = 0; round < 5; ++round) {
    long const sum = ex.invoke([&](auto ctx) {
      long all = 0;
      auto const [a, b] = ctx.fork_join([&](auto c) { return two(c, depth, false); },
                                        [&](auto c) { return other_two(c, slow ? 500 : 2000, false); });
      all += a + b;
      for (int i = 0; i < 100; ++i) {
        auto const [x, y] = ctx.fork_join([] { return 1; }, [] { return 2; });
        all += x + y;
      }
      return all;
    });
    REQUIRE(sum == depth + (slow ? 500 : 2000) + 300);
  }
}
