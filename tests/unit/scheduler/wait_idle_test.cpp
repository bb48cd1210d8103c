// wait_idle(): the tasks that it waits for, the tasks that it does not wait for, and its permitted callers.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::slow;

TEST_CASE("wait_idle: returns although others keep submitting", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "a steady load"};
    std::atomic<bool> stop{false};
    std::atomic<int> under_way{0};
    std::thread load{[&] {
      while (!stop) {
        if (under_way < 100) {
          ++under_way;
          ex.post([&under_way] { --under_way; });
        } else {
          std::this_thread::yield();
        }
      }
    }};
    for (int i = 0; i < (slow ? 3 : 30); ++i) {
      std::atomic<int> mine{0};
      for (int k = 0; k < 10; ++k) ex.post([&mine] { ++mine; });
      ex.wait_idle();
      REQUIRE(mine == 10);
    }
    stop = true;
    load.join();
    ex.wait_idle();
  }
}

TEST_CASE("wait_idle: waits for all that was begun before, and all that this has begun", "[sched]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "descendants"};
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      std::atomic<int> n{0};
      std::function<void(int)> down = [&](int left) {
        ++n;
        if (left != 0) ex.post([&down, left] { down(left - 1); });
      };
      // From posted tasks, from children of forks and scopes, and from tasks of graphs and their children.
      ex.post([&] { down(10); });
      ex.post([&](heist::context ctx) {
        ctx.fork_join([&] { down(5); }, [&] { down(5); });
        heist::scope s{ctx};
        for (int i = 0; i < 4; ++i) s.fork([&] { down(3); });
        s.join();
      });
      heist::task_graph inner, g;
      inner.emplace([&] { down(3); });
      auto a = g.emplace([&](heist::context ctx) { ctx.fork_join([&] { down(2); }, [&] { down(2); }); });
      a.precede(g.compose(inner));
      static_cast<void>(ex.run_n(g, 3));
      ex.wait_idle();
      REQUIRE(n == 11 + 12 + 16 + 3 * (6 + 4));
    }
  }
}

TEST_CASE("wait_idle: several wait at once, each for its own", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 120s, "several wait"};
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < (slow ? 20 : 300); ++i) {
        std::atomic<int> mine{0};
        for (int k = 0; k < 3; ++k) ex.post([&mine] { ++mine; });
        ex.wait_idle();
        if (mine != 3) ++wrong;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("wait_idle: inside a task of another executor it parks, and so does the destructor", "[sched]") {
  heist::executor a{1};
  heist_test::watchdog guard{a, 60s, "nested wait_idle"};
  for (int i = 0; i < (slow ? 3 : 20); ++i) {
    int const n = a.invoke([&a] {
      std::atomic<int> in{0};
      heist::executor b{1};
      b.post([&] { in += a.submit([] { return 1; }).get(); });
      b.wait_idle();
      return in.load();
    });
    REQUIRE(n == 1);
    std::atomic<int> later{0};
    a.invoke([&] {
      heist::executor b{1};
      b.post([&] { later += a.submit([] { return 1; }).get(); });
    });
    REQUIRE(later == 1);
  }
}

TEST_CASE("wait_idle: a task's own executor is refused", "[sched]") {
  heist::executor ex{1};
  CHECK_THROWS_AS(ex.invoke([&ex] { ex.wait_idle(); }), heist::executor_error);
}
