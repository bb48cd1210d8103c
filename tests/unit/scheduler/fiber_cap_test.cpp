// options::max_fibers: what would need one more says so or goes on without, and the executor stays usable.
#include <time.h>  // clock_gettime

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist::options;
using heist_test::slow;

namespace {

template <class Context>
int down(Context ctx, int left, std::atomic<int>& siblings) {
  if (left == 0) return 0;
  auto const [a, b] = ctx.fork_join([&, left](Context c) { return down(c, left - 1, siblings); },
                                    [&] {
                                      ++siblings;
                                      return 1;
                                    });
  return a + b;
}

template <class Context>
int down_three(Context ctx, int left) {
  if (left == 0) return 0;
  auto const [a, b, c] =
      ctx.fork_join([=](Context c) { return down_three(c, left - 1); }, [] { return 1; }, [] { return 1; });
  return a + b + c;
}

template <class Context>
void down_scope(Context ctx, int left, std::atomic<int>& n) {
  if (left == 0) return;
  heist::scope s{ctx};
  s.fork([&, left](Context c) { down_scope(c, left - 1, n); });
  ++n;
}

template <class Context>
int leaves_of_tree(Context ctx, int depth) {
  if (depth == 0) return 1;
  auto const half = [depth](Context c) { return leaves_of_tree(c, depth - 1); };
  auto const [a, b] = ctx.fork_join(half, half);
  return a + b;
}

template <class Context>
int leaves_of_three(Context ctx, int depth) {
  if (depth == 0) return 1;
  auto const third = [depth](Context c) { return leaves_of_three(c, depth - 1); };
  auto const [a, b, c] = ctx.fork_join(third, third, third);
  return a + b + c;
}
template <class Context>
int leaves_in_scopes(Context ctx, int depth) {
  if (depth == 0) return 1;
  int a = 0;
  heist::scope s{ctx};
  s.fork([&, depth](Context c) { a = leaves_in_scopes(c, depth - 1); });
  int const b = leaves_in_scopes(ctx, depth - 1);
  s.join();
  return a + b;
}

/// The text of the stack_error that `f` throws.
template <class F>
std::string error_text(F f) {
  try {
    f();
  } catch (heist::stack_error const& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("max_fibers: fewer than workers is an executor_error that names it", "[sched]") {
  for (std::size_t const fibers : {1u, 3u}) {
    try {
      heist::executor ex{options{.workers = 4, .max_fibers = fibers}};
      FAIL("made");
    } catch (heist::executor_error const& e) {
      std::string const text = e.what();
      INFO(text);
      CHECK(text.find("options::max_fibers is " + std::to_string(fibers)) != std::string::npos);
      CHECK(text.find("4 workers") != std::string::npos);
      CHECK(text.find("ix it by") != std::string::npos);
    }
  }
  heist::executor just_enough{options{.workers = 4, .max_fibers = 4}};
  CHECK(just_enough.invoke([] { return 1; }) == 1);
}

TEST_CASE("max_fibers: a child-first recursion deeper than that throws stack_error, and the executor goes on",
          "[sched]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<heist_test::child_first> ex{options{.workers = workers, .max_fibers = 20}};
    heist_test::watchdog guard{ex, 60s, "recursion at the cap"};
    for (int round = 0; round < (slow ? 10 : 100); ++round) {
      INFO(workers << " workers, round " << round);
      std::atomic<int> siblings{0};
      std::string const text = error_text([&] { ex.invoke([&](auto ctx) { down(ctx, 200, siblings); }); });
      INFO(text);
      REQUIRE(text.find("all 20 fiber stacks") != std::string::npos);
      REQUIRE(text.find("options::max_fibers") != std::string::npos);
      REQUIRE(ex.invoke([] { return 1; }) == 1);
      if (workers != 1) continue;  // another worker may keep the fibers that it has had
      siblings = 0;
      REQUIRE(ex.invoke([&](auto ctx) { return down(ctx, 8, siblings); }) == 8);
      REQUIRE(siblings == 8);
    }
  }
}

TEST_CASE("max_fibers: also with more callables, and in scopes", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor<heist_test::child_first> ex{options{.workers = workers, .max_fibers = 16}};
    heist_test::watchdog guard{ex, 60s, "other forks at the cap"};
    for (int round = 0; round < (slow ? 10 : 100); ++round) {
      REQUIRE(error_text([&] { ex.invoke([](auto ctx) { down_three(ctx, 200); }); }).find("options::max_fibers") !=
              std::string::npos);
      std::atomic<int> n{0};
      REQUIRE(error_text([&] { ex.invoke([&](auto ctx) { down_scope(ctx, 200, n); }); }).find("options::max_fibers") !=
              std::string::npos);
      REQUIRE(ex.invoke([] { return 1; }) == 1);
      if (workers != 1) continue;  // as above
      REQUIRE(ex.invoke([](auto ctx) { return down_three(ctx, 6); }) == 12);
      n = 0;
      ex.invoke([&](auto ctx) { down_scope(ctx, 6, n); });
      REQUIRE(n == 6);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("max_fibers: a task that would wait for a future at the cap gets stack_error instead",
                        "[sched]", heist_test::both_orders) {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor<TestType> ex{options{.workers = workers, .max_fibers = workers + 1}};
    heist_test::watchdog guard{ex, 60s, "waits at the cap"};
    std::function<int(int)> chain = [&](int left) -> int {
      return left == 0 ? 0 : 1 + ex.submit([&chain, left] { return chain(left - 1); }).get();
    };
    for (int round = 0; round < (slow ? 3 : 30); ++round) {
      REQUIRE(error_text([&] { ex.invoke([&] { return chain(100); }); }).find("options::max_fibers") !=
              std::string::npos);
      CHECK_THROWS_AS(ex.wait_idle(), heist::stack_error);  // of tasks whose futures were dropped on the way
      std::atomic<int> n{0}, rejected{0};
      for (int i = 0; i < 200; ++i) {
        ex.post([&] {
          try {
            n += ex.submit([] { return 1; }).get();
          } catch (heist::stack_error const&) {
            ++rejected;
          }
        });
      }
      ex.wait_idle();
      REQUIRE(n + rejected == 200);
    }
  }
}

TEST_CASE("max_fibers: tasks that wait at the cap, for another executor, use no CPU", "[sched]") {
  heist::executor io{1};
  heist::executor ex{options{.workers = 2, .max_fibers = 4}};
  heist_test::watchdog guard{ex, 60s, "no CPU at the cap"};
  std::atomic<bool> open{false};
  std::atomic<int> rejected{0}, has_waited{0};
  auto const busy = [] {
    timespec t{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  io.post([&open] {
    while (!open) std::this_thread::sleep_for(10ms);
  });
  for (int i = 0; i < 8; ++i) {
    ex.post([&] {
      try {
        io.submit([] {}).get();
        ++has_waited;
      } catch (heist::stack_error const&) {
        ++rejected;
      }
    });
  }
  while (rejected != 6) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(100ms);
  double least = 1;  // a machine that serves others may charge their time to us
  for (int i = 0; i != 5 && least >= 0.3; ++i) {
    double const before = busy();
    std::this_thread::sleep_for(1s);
    least = std::min(least, busy() - before);
  }
  CHECK(least < 0.3);  // a worker that spins uses all of it
  open = true;
  ex.wait_idle();
  io.wait_idle();
  CHECK(rejected == 6);
  CHECK(has_waited == 2);
}

TEST_CASE("max_fibers: joins at the cap go on, however many and however deep", "[sched]") {
  // A thief's join finds no stack: it runs other tasks on top of its own stack, while half of that stack is left.
  for (std::size_t const workers : {2u, 4u}) {
    heist::executor ex{
        options{.workers = workers, .stack_size = std::size_t{slow ? 8192 : 256} << 10, .max_fibers = workers}};
    heist_test::watchdog guard{ex, 120s, "joins at the cap"};
    for (int round = 0; round < (slow ? 2 : 20); ++round) {
      std::atomic<int> n{0};
      for (int i = 0; i < 20; ++i) {
        ex.post([&n](auto ctx) {
          std::atomic<int> siblings{0};
          n += down(ctx, 100, siblings);
          heist::scope s{ctx};
          for (int k = 0; k < 50; ++k) s.fork([&n] { ++n; });
          s.join();
        });
      }
      ex.wait_idle();
      REQUIRE(n == 20 * 150);
    }
  }
}

TEST_CASE("max_fibers: parent-first forks need none of their own", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{options{.workers = workers, .stack_size = std::size_t{16} << 20, .max_fibers = workers}};
    heist_test::watchdog guard{ex, 60s, "parent-first at the cap"};
    for (int round = 0; round < (slow ? 3 : 30); ++round) {
      std::atomic<int> siblings{0};
      REQUIRE(ex.invoke([&](auto ctx) { return down(ctx, 1000, siblings); }) == 1000);
      REQUIRE(siblings == 1000);
    }
  }
}

TEST_CASE("max_fibers: stolen forks use the same fibers again, however many runs", "[sched]") {
  heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>> ex{
      options{.workers = 4, .max_fibers = 400}};
  heist_test::watchdog guard{"stolen forks", 300s, [&] { return ex.state_text(); }};
  std::atomic<long> leaves{0};
  int const runs = slow ? 150 : 400;
  for (int run = 0; run != runs; ++run) {
    ex.invoke([&](auto ctx) {
      for (int i = 0; i != 20; ++i) leaves += leaves_of_tree(ctx, 10);
      for (int i = 0; i != 5; ++i) leaves += leaves_of_three(ctx, 6) + leaves_in_scopes(ctx, 10);
    });
  }
  CHECK(leaves == (20L * 1024 + 5 * (729 + 1024)) * runs);
}

TEST_CASE("guard_pages: without them everything works as before", "[sched]") {
  heist::executor<heist_test::child_first> ex{options{.workers = 2, .guard_pages = false}};
  heist_test::watchdog guard{ex, 60s, "no guard pages"};
  std::atomic<int> siblings{0};
  CHECK(ex.invoke([&](auto ctx) { return down(ctx, 100, siblings); }) == 100);
  CHECK(ex.invoke([&](auto ctx) { return ctx.submit([] { return 1; }).get(); }) == 1);
}
