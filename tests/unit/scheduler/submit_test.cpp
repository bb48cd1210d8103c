// submit, post, wait_idle and invoke, from outside and from inside, with any number of workers.
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

struct pinned {  // neither copies nor moves
  explicit pinned(int n) : n{n} {}
  pinned(pinned const&) = delete;
  int n;
};

template <class T>
void expect_counts_balance(T& ex) {
  std::atomic<int> n{0};
  for (int i = 0; i < 1000; ++i) ex.post([&] { ++n; });
  ex.wait_idle();
  CHECK(n == 1000);
}

}  // namespace

TEST_CASE("submit: results of every kind come through the future", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"results", 30s, [&] { return ex.state_text(); }};
  CHECK(ex.submit([] { return 42; }).get() == 42);
  CHECK(*ex.submit([] { return std::make_unique<int>(7); }).get() == 7);
  CHECK(ex.submit([p = std::make_unique<int>(8)] { return *p; }).get() == 8);
  int x = 1;
  int& same = ex.submit([&]() -> int& { return x; }).get();
  CHECK(&same == &x);
  int const& constant = ex.submit([&]() -> int const& { return x; }).get();
  CHECK(&constant == &x);
  CHECK(ex.submit([] { return std::string(1000, 'a'); }).get().size() == 1000);
  static_assert(std::is_void_v<decltype(ex.submit([] {}).get())>);
  ex.submit([] {}).get();
  CHECK(ex.submit([](heist::context ctx) { return ctx.worker_id() < 2 && ctx.squad_id() < 64; }).get());
  CHECK(ex.submit(+[] { return 3; }).get() == 3);
  auto const lambda = [] { return 4; };
  CHECK(ex.submit(lambda).get() == 4);
}

TEST_CASE("submit: a callable that changes itself, and one that overloads on the context", "[sched]") {
  heist::executor ex{1};
  CHECK(ex.submit([n = 1]() mutable { return ++n; }).get() == 2);
  CHECK(ex.submit([](auto ctx) { return ctx.worker_id(); }).get() == 0);
}

TEST_CASE("submit: exceptions come through the future, each once", "[sched]") {
  heist::executor ex{2};
  auto f = ex.submit([]() -> int { throw std::runtime_error{"thrown"}; });
  f.wait();
  CHECK(f.is_ready());
  CHECK_THROWS_WITH(f.get(), "thrown");
  CHECK_FALSE(f.valid());
  auto n = ex.submit([] { throw 5; });
  CHECK_THROWS_AS(n.get(), int);
  ex.wait_idle();  // an exception that has a future is none of wait_idle()'s
}

TEST_CASE("future: one that refers to nothing says so", "[sched]") {
  heist::executor ex{1};
  heist::future<int> none;
  CHECK_FALSE(none.valid());
  CHECK_THROWS_AS(none.wait(), heist::executor_error);
  CHECK_THROWS_AS(none.is_ready(), heist::executor_error);
  CHECK_THROWS_AS(none.get(), heist::executor_error);
  auto f = ex.submit([] { return 1; });
  heist::future<int> g = std::move(f);
  CHECK_FALSE(f.valid());
  CHECK(g.valid());
  CHECK(g.get() == 1);
  CHECK_FALSE(g.valid());
  CHECK_THROWS_AS(g.get(), heist::executor_error);
  f = ex.submit([] { return 2; });
  g = ex.submit([] { return 3; });
  std::swap(f, g);
  CHECK(f.get() == 3);
  CHECK(g.get() == 2);
}

TEST_CASE("future: dropped, the task still runs, and its result is destroyed once", "[sched]") {
  auto const kept = std::make_shared<int>(1);
  std::atomic<int> ran{0};
  {
    heist::executor ex{2};
    for (int i = 0; i < 200; ++i) {
      static_cast<void>(ex.submit([kept, &ran] {
        ++ran;
        return kept;
      }));
    }
    for (int i = 0; i < 50; ++i) {
      static_cast<void>(ex.submit([kept, &ran]() -> int {
        ++ran;
        throw kept;
      }));
    }
  }
  CHECK(ran == 250);
  CHECK(kept.use_count() == 1);
}

TEST_CASE("future: what the task has captured is gone when it is ready, also an owner of the executor", "[sched]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"captures", 60s, [&] { return ex.state_text(); }};
    std::stop_source none_stops;
    for (int i = 0; i < 2000; ++i) {
      auto const kept = std::make_shared<int>(1);
      ex.submit([kept] {}).get();
      REQUIRE(kept.use_count() == 1);
      ex.submit(heist::with{.stop = none_stops.get_token()}, [kept] {}).wait();
      REQUIRE(kept.use_count() == 1);
      CHECK_THROWS(ex.submit([kept] { throw std::runtime_error{"thrown"}; }).get());
      REQUIRE(kept.use_count() == 1);
    }
  }
  for (int i = 0; i < 100; ++i) {
    auto ex = std::make_shared<heist::executor<>>(std::size_t{1});
    ex->submit([ex] {}).get();
    ex.reset();
  }
}

TEST_CASE("future: it outlives its executor", "[sched]") {
  heist::future<std::string> f;
  {
    heist::executor ex{2};
    f = ex.submit([] { return std::string(100, 'z'); });
  }
  CHECK(f.is_ready());
  CHECK(f.get().size() == 100);
}

TEST_CASE("post: wait_idle() rethrows the first exception, once, and the executor goes on", "[sched]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
      ex.post([&ran, i] {
        ++ran;
        if (i % 10 == 0) throw std::runtime_error{"posted"};
      });
    }
    CHECK_THROWS_WITH(ex.wait_idle(), "posted");
    CHECK(ran == 100);
    ex.wait_idle();
    ex.post([&ran] { ++ran; });
    ex.wait_idle();
    CHECK(ran == 101);
  }
}

TEST_CASE("post: an exception that nobody asks for is dropped with the executor", "[sched]") {
  auto const kept = std::make_shared<int>(1);
  {
    heist::executor ex{2};
    ex.post([kept] { throw kept; });
  }
  CHECK(kept.use_count() == 1);
}

TEST_CASE("wait_idle: all effects are visible, also of tasks that tasks have posted", "[sched]") {
  for (std::size_t const workers : {1u, 2u, 4u, 16u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"wait_idle", 60s, [&] { return ex.state_text(); }};
    for (int round = 0; round < 50; ++round) {
      std::vector<int> plain(100, 0);  // plain int: wait_idle() must order the accesses
      for (std::size_t i = 0; i < 10; ++i) {
        ex.post([&, i] {
          for (std::size_t k = 0; k < 10; ++k) ex.post([&, i, k] { plain[10 * i + k] = 1; });
        });
      }
      ex.wait_idle();
      int sum = 0;
      for (int const p : plain) sum += p;
      REQUIRE(sum == 100);
    }
  }
}

TEST_CASE("wait_idle: several threads wait at once, and it returns at once when nothing runs", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"several wait_idle", 60s, [&] { return ex.state_text(); }};
  ex.wait_idle();
  ex.wait_idle();
  int const rounds = heist::under_tsan || heist::under_asan ? 100 : 1000;
  std::vector<std::thread> waiters;
  std::atomic<int> ran{0};
  for (int t = 0; t < 3; ++t) {
    waiters.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        ex.post([&] { ++ran; });
        ex.wait_idle();
      }
    });
  }
  for (auto& w : waiters) w.join();
  CHECK(ran == 3 * rounds);
}

TEST_CASE("wait_idle: inside a task of the same executor it throws instead of waiting for itself", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"wait_idle inside", 30s, [&] { return ex.state_text(); }};
  auto f = ex.submit([&] { ex.wait_idle(); });
  CHECK_THROWS_AS(f.get(), heist::executor_error);
  CHECK_THROWS_WITH(ex.invoke([&] { ex.wait_idle(); }), Catch::Contains("waiting outside"));
  expect_counts_balance(ex);
}

TEST_CASE("invoke: outside, inside, and inside itself", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"invoke", 30s, [&] { return ex.state_text(); }};
    CHECK(ex.invoke([] { return 1; }) == 1);
    CHECK(ex.invoke([&] { return ex.invoke([&] { return ex.invoke([] { return 5; }); }); }) == 5);
    int x = 0;
    auto const reference = [&]() -> int& { return x; };
    CHECK((std::is_same_v<decltype(ex.invoke(reference)), int&>));
    CHECK_THROWS_AS(ex.invoke([&] { ex.invoke([] { throw 1; }); }), int);
  }
}

TEST_CASE("submit: a context submits to the executor of its task", "[sched]") {
  heist::executor ex{2};
  int const result = ex.invoke([](heist::context ctx) {
    auto a = ctx.submit([] { return 1; });
    auto b = ctx.submit([](heist::context inner) { return inner.submit([] { return 2; }).get(); });
    return ctx.stop_requested() ? -1 : a.get() + b.get();
  });
  CHECK(result == 3);
}

TEST_CASE("submit: a result that cannot move is given as a future's task, or refused when compiled", "[sched]") {
  heist::executor ex{1};
  std::unique_ptr<pinned> const p = ex.invoke([] { return std::make_unique<pinned>(9); });
  CHECK(p->n == 9);
}

TEST_CASE("executor: state_text() has a line per worker and may be read at any time", "[sched]") {
  heist::executor ex{3};
  std::atomic<bool> over{false};
  std::thread reader{[&] {
    while (!over) static_cast<void>(ex.state_text());
  }};
  expect_counts_balance(ex);
  over = true;
  reader.join();
  std::string const text = ex.state_text();
  CHECK(text.find("worker 0") != std::string::npos);
  CHECK(text.find("worker 2") != std::string::npos);
}
