// Several executors: tasks of one wait for tasks of another, and back.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

using heist_test::slow;

TEST_CASE("nested: a task of A waits for B, whose task waits for A, with one worker each", "[sched]") {
  heist::executor a{1}, b{1};
  heist_test::watchdog guard{"A and B", 60s, [&] { return a.state_text() + b.state_text(); }};
  int const depth = slow ? 50 : 500;
  std::function<int(int)> bounce = [&](int left) -> int {
    if (left == 0) return 0;
    auto const go_on = [&bounce, left] { return bounce(left - 1); };
    return 1 + (left % 2 == 0 ? a.submit(go_on).get() : b.submit(go_on).get());
  };
  CHECK(a.invoke([&] { return bounce(depth); }) == depth);
}

TEST_CASE("nested: many tasks of A and B wait for each other at once", "[sched]") {
  heist::executor a{2}, b{2};
  heist_test::watchdog guard{"A and B, many", 60s, [&] { return a.state_text() + b.state_text(); }};
  std::atomic<int> n{0};
  int const tasks = slow ? 100 : 2000;
  for (int i = 0; i < tasks; ++i) {
    a.post([&] { n += b.submit([&] { return a.submit([] { return 1; }).get(); }).get(); });
    b.post([&] { n += a.submit([&] { return b.submit([] { return 1; }).get(); }).get(); });
  }
  a.wait_idle();
  b.wait_idle();
  CHECK(n == 2 * tasks);
}

TEST_CASE("nested: wait_idle() and destruction of another executor inside a task", "[sched]") {
  heist::executor a{2};
  heist_test::watchdog guard{"executor in a task", 60s, [&] { return a.state_text(); }};
  int const rounds = slow ? 5 : 50;
  for (int i = 0; i < rounds; ++i) {
    int const sum = a.invoke([] {
      std::atomic<int> n{0};
      heist::executor b{2};
      for (int k = 0; k < 20; ++k) b.post([&] { ++n; });
      b.wait_idle();
      for (int k = 0; k < 20; ++k) b.post([&] { ++n; });
      return b.invoke([&] { return b.submit([&] { return 1; }).get(); });
    });
    REQUIRE(sum == 1);
  }
}

TEST_CASE("nested: worker numbers belong to the executor whose task asks", "[sched]") {
  heist::executor a{1}, b{3};
  heist_test::watchdog guard{"worker numbers", 60s};
  bool const right = a.invoke([&](heist::context outer) {
    bool ok = outer.worker_id() == 0;
    ok = ok && b.submit([](heist::context inner) { return inner.worker_id() < 3; }).get();
    return ok && outer.worker_id() == 0;
  });
  CHECK(right);
}

TEST_CASE("nested: a chain of executors, each waited for by a task of the one before", "[sched]") {
  heist_test::watchdog guard{"chain of executors", 60s};
  std::vector<std::unique_ptr<heist::executor<>>> all;
  for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<heist::executor<>>(std::size_t{1}));
  std::function<int(std::size_t)> down = [&](std::size_t i) -> int {
    return i == all.size() ? 0 : 1 + all[i]->submit([&down, i] { return down(i + 1); }).get();
  };
  CHECK(down(0) == 8);
}
