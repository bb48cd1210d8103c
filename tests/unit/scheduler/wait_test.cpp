// Waiting inside tasks parks them: no worker is lost, no stack grows, one worker never deadlocks.
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heist/core/sync/completion.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/wait_for.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using namespace std::chrono_literals;

using heist_test::slow;

TEST_CASE("parking: thousands of tasks wait at once for one that comes last", "[sched]") {
  // ThreadSanitizer has room for some 8000 threads and fibers.
  int const waiting = heist::under_tsan ? 500 : heist::under_asan ? 1000 : 10000;
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{heist::options{.workers = workers, .stack_size = std::size_t{64} << 10}};
    heist_test::watchdog guard{"all parked", 60s, [&] { return ex.state_text(); }};
    std::atomic<int> begun{0};
    int plain = 0;  // written by the awaited task, read by all tasks that waited
    std::atomic<int> saw{0};
    heist::detail::completion finished;
    for (int i = 0; i < waiting; ++i) {
      ex.post([&] {
        ++begun;
        heist_test::wait_for(finished);
        saw += plain;
      });
    }
    while (begun != waiting) std::this_thread::sleep_for(1ms);
    ex.post([&] {
      plain = 1;
      finished.complete();
    });
    ex.wait_idle();
    CHECK(saw == waiting);
  }
}

TEST_CASE("parking: parked fibers are used again, not made anew", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"reuse of fibers", 60s, [&] { return ex.state_text(); }};
  int const rounds = slow ? 2000 : 50000;
  // With a fiber of 1 MiB per wait this would need 50 GiB and run out of mappings.
  ex.invoke([&] {
    for (int i = 0; i < rounds; ++i) ex.submit([] {}).get();
  });
}

TEST_CASE("parking: deep chains of waits end, on few workers and small stacks", "[sched]") {
  int const depth = heist::under_tsan ? 300 : slow ? 1000 : 5000;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{heist::options{.workers = workers, .stack_size = std::size_t{64} << 10}};
    heist_test::watchdog guard{"deep chain", 60s, [&] { return ex.state_text(); }};
    std::function<int(int)> chain = [&](int left) -> int {
      if (left == 0) return 0;
      return 1 + ex.submit([&chain, left] { return chain(left - 1); }).get();
    };
    CHECK(ex.invoke([&] { return chain(depth); }) == depth);
  }
}

TEST_CASE("parking: a tree of waits, where every task waits for two", "[sched]") {
  int const depth = slow ? 7 : 12;
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"tree", 60s, [&] { return ex.state_text(); }};
    std::function<long(int)> tree = [&](int left) -> long {
      if (left == 0) return 1;
      auto a = ex.submit([&tree, left] { return tree(left - 1); });
      auto b = ex.submit([&tree, left] { return tree(left - 1); });
      return a.get() + b.get();
    };
    CHECK(ex.invoke([&] { return tree(depth); }) == 1L << depth);
  }
}

TEST_CASE("parking: exceptions cross chains of waits", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"exceptions in chains", 60s, [&] { return ex.state_text(); }};
  std::function<void(int)> chain = [&](int left) {
    if (left == 0) throw std::runtime_error{"bottom"};
    ex.submit([&chain, left] { chain(left - 1); }).get();
  };
  for (int i = 0; i < 20; ++i) CHECK_THROWS_WITH(ex.invoke([&] { chain(50); }), "bottom");
}

TEST_CASE("parking: a task that waits inside a handler keeps its exception, on whichever worker", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"wait in a handler", 60s, [&] { return ex.state_text(); }};
  int const tasks = slow ? 100 : 1000;
  std::atomic<int> right{0};
  for (int i = 0; i < tasks; ++i) {
    ex.post([&, i] {
      try {
        throw i;
      } catch (int const&) {
        try {
          ex.submit([i] { throw std::to_string(i); }).get();
        } catch (std::string const& inner) {
          try {
            throw;
          } catch (std::string const& again) {
            right += inner == again && inner == std::to_string(i);
          }
        }
        try {
          throw;
        } catch (int const outer) {
          right += outer == i;
        }
      }
    });
  }
  ex.wait_idle();
  CHECK(right == 2 * tasks);
}

TEST_CASE("parking: one worker goes on with other tasks while one waits", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"one worker", 60s, [&] { return ex.state_text(); }};
  std::vector<int> order;
  auto f = ex.submit([&] {
    order.push_back(1);
    auto inner = ex.submit([&] { order.push_back(2); });
    inner.get();
    order.push_back(3);
  });
  f.get();
  CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("parking: many wait for the same thing, inside and outside", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"same completion", 60s, [&] { return ex.state_text(); }};
  int const rounds = slow ? 20 : 200;
  for (int round = 0; round < rounds; ++round) {
    heist::detail::completion c;
    std::atomic<int> through{0};
    for (int i = 0; i < 20; ++i) {
      ex.post([&] {
        heist_test::wait_for(c);
        ++through;
      });
    }
    std::thread outside{[&] {
      heist_test::wait_for(c);
      ++through;
    }};
    if (round % 2 == 0) {
      ex.post([&] { c.complete(); });
    } else {
      c.complete();
    }
    outside.join();
    ex.wait_idle();
    REQUIRE(through == 21);
  }
}

TEST_CASE("parking: a task keeps what is on its stack while it is parked", "[sched]") {
  heist::executor ex{heist::options{.workers = 2, .stack_size = std::size_t{128} << 10}};
  heist_test::watchdog guard{"stacks", 60s, [&] { return ex.state_text(); }};
  std::atomic<int> kept{0};
  int const tasks = slow ? 100 : 500;
  for (int i = 0; i < tasks; ++i) {
    ex.post([&, i] {
      unsigned char volatile bytes[16384];
      for (auto& b : bytes) b = static_cast<unsigned char>(i);
      ex.submit([] { heist_test::yield(); }).get();
      bool same = true;
      for (auto const& b : bytes) same = same && b == static_cast<unsigned char>(i);
      kept += same;
    });
  }
  ex.wait_idle();
  CHECK(kept == tasks);
}
