// Threads that change: calls that block, helpers, hooks, workers that sleep.
#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heist/async.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

TEST_CASE("blocking: others go on, with one worker, any number of times, nested in forks and waits", "[sched]") {
  for (std::size_t workers : {1, 2}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"blocking", 60s, [&] { return ex.state_text(); }};
    for (int i = 0; i < 50; ++i) {
      std::atomic<bool> released{false};
      auto blocked = ex.submit([&](auto ctx) {
        auto [a, b] = ctx.fork_join(
            [&](auto c) {
              return c.blocking([&] {
                while (!released) std::this_thread::yield();
                return i;
              });
            },
            [&](auto c) { return c.submit([] { return 1; }).get(); });
        return a + b;
      });
      ex.submit([&] { released = true; }).get();
      CHECK(blocked.get() == i + 1);
    }
    CHECK_THROWS_WITH(ex.invoke([](auto ctx) { return ctx.blocking([]() -> int { throw std::runtime_error{"x"}; }); }),
                      "x");
    int here = 0;
    CHECK(&ex.invoke([&](auto ctx) -> int& { return ctx.blocking([&]() -> int& { return here; }); }) == &here);
  }
}

TEST_CASE("blocking: many at a time, more than threads are allowed", "[sched]") {
  heist::executor ex{heist::options{.workers = 2, .max_threads = 5}};
  heist_test::watchdog guard{"many", 60s, [&] { return ex.state_text(); }};
  std::atomic<int> inside{0}, done{0};
  for (int i = 0; i < 100; ++i) {
    ex.post([&](auto ctx) {
      ctx.blocking([&] {
        ++inside;
        // Until as many are inside as there are threads to hold them, or there are no more to come.
        for (int k = 0; inside < 3 && k < 1000; ++k) std::this_thread::yield();
      });
      ++done;
    });
  }
  ex.wait_idle();
  CHECK(done == 100);
}

TEST_CASE("blocking: a guard keeps the task on its thread", "[sched]") {
  heist::executor ex{2};
  ex.invoke([](auto ctx) {
    heist::no_migrate const here;
    auto const me = std::this_thread::get_id();
    ctx.blocking([&] { CHECK(std::this_thread::get_id() == me); });
    CHECK(std::this_thread::get_id() == me);
  });
}

TEST_CASE("run_here: the calling thread runs the task, and what it waits for if need be", "[sched]") {
  for (std::size_t workers : {1, 3}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"run_here", 60s, [&] { return ex.state_text(); }};
    while (ex.sleeping_workers() != workers) std::this_thread::yield();
    std::thread::id by;
    // A worker that says it sleeps may not lie down for a moment.
    do {
      ex.run_here([&] { by = std::this_thread::get_id(); });
    } while (by != std::this_thread::get_id());
    for (int i = 0; i < 500; ++i) {
      CHECK(ex.run_here([&](auto ctx) {
        CHECK(ctx.worker_id() < workers);
        auto [a, b] = ctx.fork_join([] { return 1; }, [&](auto c) { return c.submit([] { return 2; }).get(); });
        return a + b;
      }) == 3);
      if (i % 50 == 0) ex.post([] {});
    }
    CHECK_THROWS_WITH(ex.run_here([]() -> int { throw std::runtime_error{"x"}; }), "x");
    CHECK(ex.invoke([&] { return ex.run_here([] { return 7; }); }) == 7);
    std::atomic<int> left{0};
    ex.run_here([&](auto ctx) {
      for (int i = 0; i < 100; ++i) static_cast<void>(ctx.submit([&] { ++left; }));
    });
    ex.wait_idle();
    CHECK(left == 100);
  }
}

TEST_CASE("run_here: a function without a context is a plain call, whether workers sleep or not", "[sched]") {
  std::atomic<bool> over{false};
  heist::executor ex{2};
  heist_test::watchdog guard{"plain", 60s, [&] { return ex.state_text(); }};
  for (bool const busy : {false, true}) {
    if (busy) {
      for (int i = 0; i < 2; ++i) {
        ex.post([&] {
          while (!over) std::this_thread::yield();
        });
      }
    }
    int here = 0;
    CHECK(&ex.run_here([&]() -> int& { return here; }) == &here);
    CHECK(ex.run_here([] { return std::this_thread::get_id(); }) == std::this_thread::get_id());
    CHECK_THROWS_AS(ex.run_here([] { return heist::fork_join([](heist::context) {}, [](heist::context) {}); }),
                    heist::executor_error);
    CHECK_THROWS_WITH(ex.run_here([]() -> int { throw std::runtime_error{"x"}; }), "x");
    CHECK(*ex.run_here([p = std::make_unique<int>(3)]() mutable { return std::move(p); }) == 3);
  }
  over = true;
}

TEST_CASE("run_here: what a guest leaves behind is run by the only worker", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"run_here", 60s, [&] { return ex.state_text(); }};
  std::thread::id by;
  std::atomic<int> left{0};
  int asked = 0;
  do {
    while (ex.sleeping_workers() != 1) std::this_thread::yield();
    ex.run_here([&](auto ctx) {
      by = std::this_thread::get_id();
      for (int i = 0; i < 100; ++i) static_cast<void>(ctx.submit([&] { ++left; }));
    });
    ex.wait_idle();
    CHECK(left == 100 * ++asked);
  } while (by != std::this_thread::get_id());
}

TEST_CASE("run_here: several threads at the same time, and others that submit", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"guests", 100s, [&] { return ex.state_text(); }};
  std::vector<std::thread> threads;
  std::atomic<int> n{0};
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        n += ex.run_here([&](auto ctx) {
          heist::no_migrate const here;
          return ctx.submit([] { return 1; }).get();
        });
        n += ex.submit([] { return 1; }).get();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(n == 6000);
}

TEST_CASE("hooks: each thread says that it begins and that it ends", "[sched]") {
  std::atomic<int> begun{0}, ended{0};
  {
    heist::executor ex{heist::options{.workers = 2,
                                      .on_worker_start = [&](std::size_t w) { begun += w < 2; },
                                      .on_worker_stop = [&](std::size_t) { ++ended; }}};
    ex.invoke([](auto ctx) { ctx.blocking([] {}); });
    CHECK(begun >= 1);
  }
  CHECK(begun >= 2);
  CHECK(begun == ended);
}

namespace {

/// A task that another worker has taken while a helper had the place of the last sleeper pushes another one, and waits for
/// it without parking. So somebody must be awake for that.
template <class Policy>
void helper_leaves_beside_a_task() {
  heist::executor<Policy> ex{heist::options{.workers = 2}};
  heist_test::watchdog guard{"a helper has left", 60s, [&] { return ex.state_text(); }};
  for (int i = 0; i != 5; ++i) {
    std::this_thread::sleep_for(5ms);  // the workers sleep
    std::atomic<bool> has_begun{false}, has_left{false}, second{false};
    ex.run_here([&](heist::context) {
      ex.post([&] {
        has_begun = true;
        while (!has_left) std::this_thread::yield();
        std::this_thread::sleep_for(1ms);
        ex.post([&] { second = true; });
        while (!second) std::this_thread::yield();
      });
      while (!has_begun) std::this_thread::yield();
    });
    has_left = true;
    ex.wait_idle();
    CHECK(second);
  }
}

}  // namespace

TEST_CASE("run_here: a helper that leaves keeps no thief from waking", "[sched]") {
  namespace p = heist::policy;
  helper_leaves_beside_a_task<p::random>();
  helper_leaves_beside_a_task<p::with_idle<p::random, heist::idle::adaptive>>();
  helper_leaves_beside_a_task<p::with_idle<p::random, heist::idle::bws>>();
}
