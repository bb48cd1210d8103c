// Runs: their number, order, ends, callbacks, exceptions and stops.
#include <heist/heist.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using seconds = std::chrono::seconds;

TEST_CASE("run, run_n and run_until run as often as they say", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph g;
    int n = 0;
    auto a = g.emplace([&] { ++n; });
    a.precede(g.emplace([] {}), g.emplace([] {}));
    ex.run(g).get();
    CHECK(n == 1);
    ex.run_n(g, 7).get();
    CHECK(n == 8);
    ex.run_n(g, 1).get();
    CHECK(n == 9);
    ex.run_until(g, [&] { return n >= 20; }).get();
    CHECK(n == 20);
    ex.run_until(g, [] { return true; }).get();  // asked after a run, so there is one
    CHECK(n == 21);
  }
}

TEST_CASE("run_n of 0 runs nothing, ends, and calls the callback", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0, called = 0;
  g.emplace([&] { ++n; });
  auto run = ex.run_n(g, 0, [&] { ++called; });
  run.get();
  CHECK(run.is_ready());
  CHECK_FALSE(run.stopped());
  CHECK(n == 0);
  CHECK(called == 1);
  ex.run(g).get();
  CHECK(n == 1);
}

TEST_CASE("an empty graph runs, as often as you like", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  ex.run(g).get();
  ex.run_n(g, 100).get();
  int left = 10, called = 0;
  ex.run_until(
        g, [&] { return --left == 0; }, [&] { ++called; })
      .get();
  CHECK(left == 0);
  CHECK(called == 1);
}

TEST_CASE("the effects of a run are seen when wait returns, without atomics", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::vector<int> data(100);
  for (auto& d : data) g.emplace([&d] { ++d; });
  for (int i = 1; i <= 50; ++i) {
    auto run = ex.run(g);
    run.wait();
    CHECK(run.is_ready());
    for (int const d : data) REQUIRE(d == i);
  }
}

TEST_CASE("callbacks are called once, after the last task and before wait returns", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0, seen = 0, called = 0;
  g.emplace([&] { ++n; });
  auto const callback = [&] { seen = n, ++called; };
  ex.run(g, callback).get();
  CHECK((seen == 1 && called == 1));
  ex.run_n(g, 5, callback).get();
  CHECK((seen == 6 && called == 2));
  ex.run_until(
        g, [&] { return n == 9; }, callback)
      .get();
  CHECK((seen == 9 && called == 3));
  std::stop_source stop;
  ex.run(g, heist::with{.stop = stop.get_token()}, callback).get();
  ex.run(g, callback, heist::with{.stop = stop.get_token()}).get();  // in either order
  CHECK(called == 5);
  ex.run(g, [only = std::make_unique<int>(2), &called] { called += *only; }).get();
  CHECK(called == 7);
}

TEST_CASE("a callback that throws fails the run and nothing else", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  g.emplace([&] { ++n; });
  auto run = ex.run(g, [] { throw std::runtime_error{"callback"}; });
  CHECK_THROWS_WITH(run.get(), "callback");
  CHECK_THROWS_WITH(run.get(), "callback");  // asked again
  CHECK_THROWS_WITH(ex.run_until(g, []() -> bool { throw std::runtime_error{"predicate"}; }).get(), "predicate");
  ex.run(g).get();
  CHECK(n == 3);
}

TEST_CASE("a callback is called for runs that fail and for runs that are stopped", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int called = 0;
  g.emplace([] { throw std::runtime_error{"task"}; });
  CHECK_THROWS_WITH(ex.run(g, [&] { ++called; }).get(), "task");
  CHECK_THROWS_WITH(ex.run(g, [&] { throw std::runtime_error{"callback"}; }).get(), "task");  // the first one
  std::stop_source stop;
  stop.request_stop();
  ex.run(g, heist::with{.stop = stop.get_token()}, [&] { ++called; }).wait();
  CHECK(called == 2);
}

TEST_CASE("callbacks and predicates may wait for other work", "[graph]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    std::atomic<int> n{0};
    heist_test::rounds rounds{300};
    while (rounds.next()) {
      heist::task_graph graphs[4];
      std::vector<heist::graph_run> runs;
      for (auto& g : graphs) {
        for (int i = 0; i < 8; ++i) g.emplace([&] { ++n; });
        auto const wait = [&ex] { ex.submit([] { heist_test::yield(); }).get(); };
        runs.push_back(ex.run_until(
            g,
            [wait, left = 3]() mutable {
              wait();
              return --left == 0;
            },
            wait));
      }
      for (auto& r : runs) r.get();
    }
    CHECK(n == rounds.begun() * 4 * 8 * 3);
    ex.wait_idle();
  }
}

TEST_CASE("a callback may start the next run of its graph", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<int> n{0};
  g.emplace([&] { ++n; });
  std::promise<void> over;
  struct chain {
    heist::executor<>& ex;
    heist::task_graph& g;
    std::promise<void>& over;
    int left;
    void operator()() const {
      if (left == 0) {
        over.set_value();
      } else {
        static_cast<void>(ex.run(g, chain{ex, g, over, left - 1}));
      }
    }
  };
  static_cast<void>(ex.run(g, chain{ex, g, over, 99}));
  over.get_future().get();
  ex.wait_idle();
  CHECK(n == 100);
}

TEST_CASE("what a callback and a predicate hold is let go when the run has ended", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  auto held = std::make_shared<int>(0);
  std::weak_ptr<int> const watch = held;
  heist::task_graph g;
  g.emplace([] {});
  ex.run_until(
        g, [held] { return true; }, [held] {})
      .get();
  held.reset();
  while (!watch.expired()) std::this_thread::yield();
  CHECK(watch.expired());
}

TEST_CASE("a graph may be owned by the callback of its own run", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  std::atomic<int> n{0};
  std::weak_ptr<heist::task_graph> watch;
  {
    auto g = std::make_shared<heist::task_graph>();
    watch = g;
    for (int i = 0; i < 10; ++i) g->emplace([&] { ++n; });
    static_cast<void>(ex.run(*g, [g] {}));
  }
  ex.wait_idle();
  while (!watch.expired()) std::this_thread::yield();
  CHECK(n == 10);
  CHECK(watch.expired());
}

TEST_CASE("what a callback holds may itself wait when it is let go", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  std::atomic<int> n{0};
  heist_test::rounds rounds{500};
  while (rounds.next()) {
    heist::task_graph g[3];
    for (auto& one : g) {
      auto held = std::make_shared<heist::task_graph>();  // its destructor waits for its run
      for (int i = 0; i < 4; ++i) {
        held->emplace([&] {
          heist_test::yield();
          ++n;
        });
      }
      one.emplace([&ex, h = held.get()] { static_cast<void>(ex.run(*h)); });
      static_cast<void>(ex.run(one, [keep = std::move(held)] {}));
    }
  }
  ex.wait_idle();
  CHECK(n == rounds.begun() * 12);
}

TEST_CASE("a run that cannot be started leaks nothing and leaves the graph usable", "[graph]") {
  struct thrower {
    thrower() = default;
    thrower(thrower const&) { throw 7; }
    void operator()() const {}
  };
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  g.emplace([&] { ++n; });
  thrower const t;
  CHECK_THROWS_AS(ex.run(g, t), int);
  ex.run(g).get();
  CHECK(n == 1);
  g.emplace([] {});  // it does not run
}

TEST_CASE("several graphs run at once", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  std::vector<heist::task_graph> graphs(20);
  std::vector<int> counts(20);
  for (int i = 0; i < 20; ++i) {
    auto a = graphs[i].emplace([] {});
    auto c = graphs[i].emplace([&counts, i] { ++counts[i]; });
    for (int k = 0; k < 20; ++k) graphs[i].emplace([] {}).succeed(a).precede(c);
  }
  std::vector<heist::graph_run> runs;
  for (int round = 0; round < 10; ++round) {
    for (auto& g : graphs) runs.push_back(ex.run(g));
  }
  for (auto& r : runs) r.get();
  for (int const c : counts) CHECK(c == 10);
}

TEST_CASE("two runs that need each other's tasks run at the same time", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist_test::rounds rounds{200};
  while (rounds.next()) {
    heist::task_graph a, b;
    std::atomic<int> here{0};
    auto const meet = [&] {
      ++here;
      while (here < 2) std::this_thread::yield();
    };
    a.emplace(meet);
    b.emplace(meet);
    auto ra = ex.run(a);
    auto rb = ex.run(b);
    ra.get();
    rb.get();
  }
}

TEST_CASE("runs of one graph are queued: they never overlap and come in the order of submission", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::task_graph g;
  std::atomic<int> inside{0};
  int most = 0;
  std::vector<int> order;
  auto first = g.emplace([&] { most = std::max(most, ++inside); });
  auto last = g.emplace([&] { --inside; });
  for (int i = 0; i < 10; ++i) g.emplace([] { heist_test::yield(); }).succeed(first).precede(last);
  std::vector<heist::graph_run> runs;
  for (int i = 0; i < 100; ++i) runs.push_back(ex.run(g, [&order, i] { order.push_back(i); }));
  runs.back().get();
  for (auto const& r : runs) CHECK(r.is_ready());  // the last one has ended, so all have
  CHECK(most == 1);
  REQUIRE(order.size() == 100);
  for (int i = 0; i < 100; ++i) CHECK(order[i] == i);
}

TEST_CASE("many threads may start runs of one graph, on several executors", "[graph]") {
  heist::executor one{2}, two{1};
  heist_test::watchdog timeout_guard{one, seconds{60}};
  timeout_guard.watch(two);
  heist::task_graph g;
  std::atomic<int> inside{0}, overlaps{0};
  int n = 0;
  auto first = g.emplace([&] {
    ++n;
    if (++inside != 1) ++overlaps;
  });
  first.precede(g.emplace([&] { --inside; }));
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      std::vector<int> mine;
      std::vector<heist::graph_run> runs;
      for (int i = 0; i < 50; ++i) {
        auto callback = [&mine, i] { mine.push_back(i); };
        runs.push_back(t % 2 == 0 ? one.run(g, callback) : two.run(g, callback));
        if (i % 10 == 0) runs.back().wait();
      }
      for (auto& r : runs) r.get();
      bool const in_order = std::is_sorted(mine.begin(), mine.end()) && mine.size() == 50;
      if (!in_order) ++overlaps;
    });
  }
  for (auto& t : threads) t.join();
  CHECK(n == 400);
  CHECK(overlaps == 0);
}

TEST_CASE("the first exception reaches every get, the rest is skipped, the graph runs again", "[graph]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph g;
    bool fail = true;
    int after = 0;
    auto bad = g.emplace([&] {
      if (fail) throw std::runtime_error{"boom"};
    });
    for (int i = 0; i < 10; ++i) bad.precede(g.emplace([] {}));
    bad.precede(g.emplace([&] { ++after; }));
    auto run = ex.run(g);
    run.wait();  // does not throw
    CHECK(run.is_ready());
    CHECK_FALSE(run.stopped());
    CHECK_THROWS_WITH(run.get(), "boom");
    CHECK_THROWS_WITH(run.get(), "boom");
    CHECK(after == 0);
    fail = false;
    ex.run(g).get();
    CHECK(after == 1);
    CHECK_THROWS_WITH(run.get(), "boom");  // the handle still means its own run
  }
}

TEST_CASE("of two tasks that throw at once, one is heard", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  for (int round = 0; round < 200; ++round) {
    heist::task_graph g;
    std::atomic<int> here{0};
    for (int i = 0; i < 2; ++i) {
      g.emplace([&here, i] {
        ++here;
        while (here < 2) std::this_thread::yield();
        throw i;
      });
    }
    int caught = -1;
    try {
      ex.run(g).get();
    } catch (int i) {
      caught = i;
    }
    CHECK((caught == 0 || caught == 1));
  }
}

TEST_CASE("an exception ends run_n and run_until", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  g.emplace([&] {
    if (++n % 5 == 0) throw n;
  });
  CHECK_THROWS_AS(ex.run_n(g, 100).get(), int);
  CHECK(n == 5);
  CHECK_THROWS_AS(ex.run_until(g, [] { return false; }).get(), int);
  CHECK(n == 10);
}

TEST_CASE("an exception of one run does not touch the next one in line", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  g.emplace([&] {
    if (++n % 2 == 1) throw n;
  });
  std::vector<heist::graph_run> runs;
  for (int i = 0; i < 50; ++i) runs.push_back(ex.run(g));
  for (int i = 0; i < 50; ++i) {
    if (i % 2 == 0) {
      CHECK_THROWS_AS(runs[i].get(), int);
    } else {
      CHECK_NOTHROW(runs[i].get());
    }
  }
}

TEST_CASE("the destructor of an exception that was thrown is called once the run is forgotten", "[graph]") {
  static std::atomic<int> alive;
  alive = 0;
  struct counted {
    counted() { ++alive; }
    counted(counted const&) { ++alive; }
    ~counted() { --alive; }
  };
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  {
    heist::task_graph g;
    for (int i = 0; i < 20; ++i) g.emplace([] { throw counted{}; });
    for (int round = 0; round < 50; ++round) CHECK_THROWS_AS(ex.run(g).get(), counted);
  }
  ex.wait_idle();
  CHECK(alive == 0);
}

TEST_CASE("an exception that was caught ends with its handler, on the thread that asked", "[graph]") {
  static std::atomic<int> alive;
  static std::atomic<bool> remote;
  alive = 0;
  remote = false;
  static thread_local bool asks = false;
  asks = true;
  struct counted {
    int read = 7;
    counted() { ++alive; }
    counted(counted const& other) : read{other.read} { ++alive; }
    ~counted() {
      if (!asks) remote = true;
      --alive;
    }
  };
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph inner, outer;
  inner.emplace([] { throw counted{}; });
  outer.compose(inner);
  for (int round = 0; round < 500; ++round) {
    try {
      ex.run(round % 2 == 0 ? inner : outer).get();
      FAIL("nothing was thrown");
    } catch (counted const& e) {
      REQUIRE(e.read == 7);
    }
    // The exception ends here, not when the graph is run again or destroyed, and not on the worker that ended the run.
    REQUIRE(alive == 0);
  }
  CHECK_FALSE(remote);
}

TEST_CASE("a stop skips tasks that have not started and lets those that run see it", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<bool> started{false};
  bool seen = false, after = false;
  auto longest = g.emplace([&](heist::context c) {
    CHECK_FALSE(c.stop_requested());
    started = true;
    while (!c.stop_requested()) std::this_thread::yield();
    seen = true;
  });
  longest.precede(g.emplace([&] { after = true; }));
  auto run = ex.run(g);
  while (!started) std::this_thread::yield();
  CHECK_FALSE(run.is_ready());
  CHECK_FALSE(run.stopped());
  run.request_stop();
  CHECK_THROWS_AS(run.get(), heist::stopped_error);
  run.wait();
  CHECK(seen);
  CHECK_FALSE(after);
  CHECK(run.stopped());
}

TEST_CASE("a stop_token stops its run: before, during and after", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<int> n{0};
  std::stop_source stop;
  g.emplace([&] { ++n; });
  auto before = ex.run(g, heist::with{.stop = stop.get_token()});
  before.get();
  CHECK_FALSE(before.stopped());
  stop.request_stop();
  CHECK_FALSE(before.stopped());  // it had ended
  auto after = ex.run(g, heist::with{.stop = stop.get_token()});
  CHECK_THROWS_AS(after.get(), heist::stopped_error);
  CHECK(after.stopped());
  CHECK(n == 1);
  ex.run(g, heist::with{.stop = std::stop_token{}}).get();  // one that cannot stop
  CHECK(n == 2);
  std::stop_source second;
  auto endless = ex.run_until(
      g, [] { return false; }, heist::with{.stop = second.get_token()});
  while (n < 50) std::this_thread::yield();
  second.request_stop();
  endless.wait();
  CHECK(endless.stopped());
}

TEST_CASE("a stop that comes after the end is no stop", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  g.emplace([] {});
  auto run = ex.run(g);
  run.get();
  run.request_stop();
  CHECK_FALSE(run.stopped());
}

TEST_CASE("a stop of a run in line stops that run only", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<bool> go{false};
  std::atomic<int> n{0};
  g.emplace([&] {
    while (!go) std::this_thread::yield();
    ++n;
  });
  auto first = ex.run(g);
  auto second = ex.run(g);
  auto third = ex.run(g);
  second.request_stop();
  go = true;
  third.get();
  CHECK(n == 2);
  CHECK(second.is_ready());
  CHECK(second.stopped());
  CHECK_FALSE(first.stopped());
  CHECK_FALSE(third.stopped());
}

TEST_CASE("stops race with ends", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  auto a = g.emplace([] {});
  for (int i = 0; i < 10; ++i) a.precede(g.emplace([] {}));
  int const rounds = heist::under_tsan || heist::under_asan ? 200 : 2000;
  for (int i = 0; i < rounds; ++i) {
    std::stop_source stop;
    auto run = ex.run(g, heist::with{.stop = stop.get_token()});
    if (i % 2 == 0) run.request_stop();
    stop.request_stop();
    run.wait();
  }
}

TEST_CASE("a run is waited for with a limit in time", "[graph]") {
  using clock = std::chrono::steady_clock;
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  auto gate = g.emplace_event<void>();
  auto run = ex.run(g);
  CHECK_FALSE(run.wait_for(seconds{0}));
  CHECK_FALSE(run.wait_for(seconds{-1}));
  for (int i = 0; i != 20; ++i) CHECK_FALSE(run.wait_until(clock::now() + std::chrono::microseconds{50}));
  CHECK_FALSE(ex.submit([&] { return run.wait_for(std::chrono::milliseconds{1}); }).get());
  // By threads and tasks at once: all of them see the end.
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (int i = 0; i != 3; ++i)
    threads.emplace_back([&] { ended += run.wait_for(std::chrono::duration<double>::max()); });
  auto inside = ex.submit([&] { return run.wait_until(std::chrono::system_clock::now() + seconds{3600}); });
  gate.set_value();
  for (auto& t : threads) t.join();
  CHECK(inside.get());
  CHECK(ended == 3);
  CHECK(run.wait_for(seconds{0}));
  run.get();
  // Its state is used again: nothing of the waits before is left.
  for (int i = 0; i != 50; ++i) {
    auto gate_again = ex.run(g);
    CHECK_FALSE(gate_again.wait_for(seconds{0}));
    std::thread waits{[&] { CHECK(gate_again.wait_for(seconds{3600})); }};
    gate.set_value();
    waits.join();
  }
}

TEST_CASE("a run that a task waits for with a limit is stopped with it, and its own task is refused", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  g.emplace_event<void>();
  std::stop_source stop;
  auto f = ex.submit(heist::with{.stop = stop.get_token()}, [&](auto ctx) {
    auto run = ctx.run(g);
    stop.request_stop();
    return run.wait_for(seconds{3600}) && run.stopped();
  });
  CHECK(f.get());

  heist::task_graph own;
  heist::graph_run* self = nullptr;
  std::atomic<bool> known{false};
  own.emplace([&] {
    while (!known) heist_test::yield();
    CHECK_THROWS_AS(self->wait_for(seconds{3600}), heist::graph_error);
  });
  auto run = ex.run(own);
  self = &run;
  known = true;
  run.get();
  heist::graph_run none;
  CHECK_THROWS_AS(none.wait_for(seconds{0}), heist::executor_error);
}

TEST_CASE("a handle may be dropped, moved, and asked by several threads", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<int> n{0};
  g.emplace([&] { ++n; });
  for (int i = 0; i < 100; ++i) static_cast<void>(ex.run(g));
  ex.wait_idle();
  CHECK(n == 100);
  auto run = ex.run_n(g, 100);
  auto moved = std::move(run);
  CHECK_FALSE(run.valid());
  CHECK(moved.valid());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { moved.get(); });
  for (auto& t : threads) t.join();
  CHECK(n == 200);
  heist::graph_run other;
  other = std::move(moved);
  CHECK(other.is_ready());
}

TEST_CASE("a handle that refers to no run says so", "[graph][bad input]") {
  heist::graph_run const nothing;
  CHECK_FALSE(nothing.valid());
  CHECK_THROWS_WITH(nothing.get(), Catch::Contains("refers to no run") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(nothing.wait(), heist::executor_error);
  CHECK_THROWS_AS(nothing.is_ready(), heist::executor_error);
  CHECK_THROWS_AS(nothing.stopped(), heist::executor_error);
  CHECK_THROWS_AS(nothing.request_stop(), heist::executor_error);
}

TEST_CASE("a handle outlives its graph and its executor", "[graph]") {
  heist::graph_run good, bad;
  {
    heist::executor ex{2};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph g, h;
    g.emplace([] {});
    h.emplace([] { throw std::runtime_error{"kept"}; });
    good = ex.run(g);
    bad = ex.run(h);
  }
  CHECK(good.is_ready());
  good.get();
  CHECK_THROWS_WITH(bad.get(), "kept");
}

TEST_CASE("the executor's end waits for runs in progress and in line", "[graph]") {
  heist::task_graph g;
  std::atomic<int> n{0};
  for (int i = 0; i < 10; ++i) {
    g.emplace([&] {
      heist_test::yield();
      ++n;
    });
  }
  {
    heist::executor ex{2};
    heist_test::watchdog timeout_guard{std::string{"end"}, seconds{20}};
    for (int i = 0; i < 50; ++i) static_cast<void>(ex.run(g));
  }
  CHECK(n == 500);
  heist::executor other{1};
  other.run(g).get();
  CHECK(n == 510);
}
