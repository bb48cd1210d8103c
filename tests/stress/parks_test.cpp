// Tasks park and resume a million times: at futures, at joins, with frames that have called a child, and on threads
// that the task chooses.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/tools/observe/counters.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using heist_test::stress_limit;
using heist_test::stress_rounds;

namespace {

using parent_first = heist::policy::random;
using child_first = heist::policy::with_order<heist::policy::random, heist::order::child_first>;

template <class Policy>
using counting = heist::executor<Policy, heist::counters>;

std::chrono::seconds limit() {
  return std::chrono::seconds{stress_limit(100)};
}

/// Checks that every parked task resumed. Prints the number of parks, because on several workers it depends on the
/// workers.
template <class Executor>
std::uint64_t parks(Executor& ex, char const* what) {
  ex.wait_idle();
  auto const c = ex.observer().total();
  std::printf("%s, %zu worker(s): %llu parks\n", what, ex.worker_count(), static_cast<unsigned long long>(c.parks));
  CHECK(c.parks == c.resumes);
  return c.parks;
}

}  // namespace

TEMPLATE_TEST_CASE("parks: one task waits for one future after the other", "[stress]", parent_first, child_first) {
  int const rounds = stress_rounds(heist::under_tsan ? 10'000'000 : 1'000'000);  // a million there, too
  counting<TestType> ex{heist::options{.workers = 1}};
  heist_test::watchdog guard{ex, limit(), "futures"};
  long sum = 0;
  ex.invoke([&](auto ctx) {
    for (int i = 0; i < rounds; ++i) sum += ctx.submit([i] { return i % 7; }).get();
  });
  long expected = 0;
  for (int i = 0; i < rounds; ++i) expected += i % 7;
  CHECK(sum == expected);
  CHECK(parks(ex, "futures") == static_cast<std::uint64_t>(rounds));  // no other worker could run the task
}

TEMPLATE_TEST_CASE("parks: many tasks wait on several workers", "[stress]", parent_first, child_first) {
  int const rounds = stress_rounds(1'000'000) / 100;
  for (std::size_t const workers : {2u, 4u}) {
    counting<TestType> ex{heist::options{.workers = workers}};
    heist_test::watchdog guard{ex, limit(), "many tasks"};
    std::atomic<long> n{0};
    for (int task = 0; task < 50; ++task) {
      ex.post([&](auto ctx) {
        for (int i = 0; i < rounds; ++i) n += ctx.submit([] { return 1; }).get();
      });
    }
    parks(ex, "many tasks");
    CHECK(n == 50L * rounds);
  }
}

TEMPLATE_TEST_CASE("parks: both sides of forks wait", "[stress]", parent_first, child_first) {
  int const rounds = stress_rounds(1'000'000) / 4;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    counting<TestType> ex{heist::options{.workers = workers}};
    heist_test::watchdog guard{ex, limit(), "forks"};
    long sum = 0;
    ex.invoke([&](auto ctx) {
      for (int i = 0; i < rounds; ++i) {
        auto const [a, b] = ctx.fork_join([](auto c) { return c.submit([] { return 1; }).get(); },
                                          [](auto c) { return c.submit([] { return 2; }).get(); });
        sum += a + b;
      }
    });
    CHECK(sum == 3L * rounds);
    CHECK(parks(ex, "forks") > 0);
  }
}

TEMPLATE_TEST_CASE("parks: tasks that must stay on their threads", "[stress]", parent_first, child_first) {
  int const rounds = stress_rounds(200'000) / 20;
  for (std::size_t const workers : {1u, 3u}) {
    counting<TestType> ex{heist::options{.workers = workers}};
    heist_test::watchdog guard{ex, limit(), "no_migrate"};
    std::atomic<long> n{0};
    std::atomic<int> moved{0};
    for (int task = 0; task < 20; ++task) {
      ex.post([&](auto ctx) {
        heist::no_migrate const stay;
        auto const here = ctx.worker_id();
        for (int i = 0; i < rounds; ++i) {
          n += ctx.submit([] { return 1; }).get();
          moved += ctx.worker_id() != here;
        }
      });
    }
    parks(ex, "no_migrate");
    CHECK(n == 20L * rounds);
    CHECK(moved == 0);
  }
}
