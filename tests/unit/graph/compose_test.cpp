// Graphs inside graphs, and tasks that start work of their own.
#include <heist/heist.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using seconds = std::chrono::seconds;

TEST_CASE("a module runs its whole graph between its predecessors and successors", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph inner, g;
    int before = 0, at_end = 0;  // unguarded: the edges order them
    std::vector<int> seen(20);
    for (auto& s : seen) inner.emplace([&] { s = before; });
    auto a = g.emplace([&] { ++before; });
    auto m = g.compose(inner).name("module");
    auto b = g.emplace([&] {
      for (int const s : seen) at_end += s == before;
    });
    m.succeed(a).precede(b);
    ex.run_n(g, 5).get();
    CHECK(at_end == 100);
  }
}

TEST_CASE("modules nest deeply", "[graph]") {
  for (std::size_t const workers : {1u, 3u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    std::atomic<int> n{0};
    std::vector<std::unique_ptr<heist::task_graph>> levels;
    levels.push_back(std::make_unique<heist::task_graph>());
    levels.back()->emplace([&] { ++n; });
    for (int i = 0; i < 200; ++i) {
      auto next = std::make_unique<heist::task_graph>();
      next->emplace([&] { ++n; }).precede(next->compose(*levels.back()));
      levels.push_back(std::move(next));
    }
    ex.run_n(*levels.back(), 3).get();
    CHECK(n == 3 * 201);
  }
}

TEST_CASE("a graph may be in several graphs and several times in one: its runs take turns", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::task_graph inner;
  int unprotected = 0;  // runs of one graph never overlap, so its chain needs no lock
  auto first = inner.emplace([&] { ++unprotected; });
  first.precede(inner.emplace([&] { ++unprotected; }));
  std::vector<std::unique_ptr<heist::task_graph>> outer;
  for (int i = 0; i < 4; ++i) {
    outer.push_back(std::make_unique<heist::task_graph>());
    for (int k = 0; k < 5; ++k) outer.back()->compose(inner);
  }
  std::vector<heist::graph_run> runs;
  for (auto& g : outer) runs.push_back(ex.run_n(*g, 10));
  runs.push_back(ex.run_n(inner, 10));
  for (auto& r : runs) r.get();
  CHECK(unprotected == 2 * (4 * 5 * 10 + 10));
}

TEST_CASE("a graph may be in graphs of different executors", "[graph]") {
  heist::executor one{2}, two{2};
  heist_test::watchdog timeout_guard{one, seconds{30}};
  timeout_guard.watch(two);
  heist::task_graph inner;
  int unprotected = 0;
  inner.emplace([&] { ++unprotected; });
  heist::task_graph a, b;
  for (int i = 0; i < 10; ++i) a.compose(inner), b.compose(inner);
  auto ra = one.run_n(a, 50);
  auto rb = two.run_n(b, 50);
  for (int i = 0; i < 50; ++i) one.run(inner).get();
  ra.get();
  rb.get();
  CHECK(unprotected == 1050);
  one.wait_idle();
  two.wait_idle();
}

TEST_CASE("an empty module runs", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph nothing, g;
  int n = 0;
  g.compose(nothing).precede(g.emplace([&] { ++n; }));
  ex.run_n(g, 10).get();
  CHECK(n == 10);
}

TEST_CASE("a module keeps its graph alive", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  std::atomic<int> n{0};
  heist::task_graph g;
  {
    heist::task_graph inner;
    inner.emplace([&] { ++n; });
    g.compose(inner);
  }
  ex.run(g).get();
  CHECK(n == 1);
}

TEST_CASE("an inner graph changed between runs runs as it is then", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph inner, g;
  std::atomic<int> n{0};
  g.compose(inner);
  for (int i = 1; i <= 4; ++i) {
    inner.emplace([&] { ++n; });
    n = 0;
    ex.run(g).get();
    CHECK(n == i);
  }
}

TEST_CASE("an exception in a module is the outer run's, which skips what follows", "[graph]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph innermost, inner, g;
    bool fail = true, after_inner = false, after = false;
    innermost.emplace([&] {
      if (fail) throw std::runtime_error{"deep"};
    });
    inner.compose(innermost).precede(inner.emplace([&] { after_inner = true; }));
    g.compose(inner).precede(g.emplace([&] { after = true; }));
    CHECK_THROWS_WITH(ex.run(g).get(), "deep");
    CHECK_FALSE(after_inner);
    CHECK_FALSE(after);
    fail = false;
    ex.run(g).get();
    CHECK(after_inner);
    CHECK(after);
  }
}

TEST_CASE("a cycle in a module fails the outer run with the cycle's name", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph inner, g;
  auto a = inner.emplace([] {}).name("inner a");
  auto b = inner.emplace([] {}).name("inner b");
  a.precede(b);
  b.precede(a);
  heist::limiter one{1};
  g.compose(inner).limit(one);
  std::string text;
  try {
    ex.run(g).get();
  } catch (heist::graph_error const& e) {
    text = e.what();
  }
  CHECK(text.find("inner a") != std::string::npos);
  CHECK(one.available() == 1);
  inner.erase_edge(b, a);
  ex.run(g).get();
}

TEST_CASE("a stop of the outer run skips what is left of the inner one", "[graph]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph inner, g;
    std::stop_source stop;
    std::atomic<int> n{0};
    heist::task<> last;
    for (int i = 0; i < 1000; ++i) {
      auto t = inner.emplace([&] {
        if (++n == 10) stop.request_stop();
      });
      if (last.valid()) last.precede(t);
      last = t;
    }
    g.compose(inner);
    auto run = ex.run(g, heist::with{.stop = stop.get_token()});
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
    CHECK(run.stopped());
    CHECK(n == 10);
    n = 100;
    ex.run(g).get();
    CHECK(n == 1100);
  }
}

TEST_CASE("a long task of an inner graph sees a stop of the outer run", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph innermost, inner, g;
  std::atomic<bool> started{false};
  bool seen = false;
  innermost.emplace([&](heist::context c) {
    started = true;
    while (!c.stop_requested()) std::this_thread::yield();
    seen = true;
  });
  inner.compose(innermost);
  g.compose(inner);
  auto run = ex.run(g);
  while (!started) std::this_thread::yield();
  run.request_stop();
  run.wait();
  CHECK(seen);
}

TEST_CASE("a graph composed into itself is refused, directly and through others", "[graph][bad input]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph a, b, c;
  CHECK_THROWS_WITH(a.compose(a), Catch::Contains("composed into itself") && Catch::Contains("fix it"));
  CHECK(a.empty());
  a.compose(b);
  b.compose(c);
  CHECK_THROWS_AS(
      [&] {
        c.compose(a);
        ex.run(a).get();
      }(),
      heist::graph_error);
}

TEST_CASE("a module that was erased does not count", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph a, b;
  int n = 0;
  b.emplace([&] { ++n; });
  auto module = a.compose(b);
  a.erase(module);
  a.emplace([&] { n += 10; });
  ex.run(a).get();
  CHECK(n == 10);
  CHECK_NOTHROW(b.compose(a));
  ex.run(b).get();
  CHECK(n == 21);
}

TEST_CASE("a module does not get other work", "[graph][bad input]") {
  heist::task_graph inner, g;
  auto m = g.compose(inner);
  auto c = g.emplace_condition([] { return 0; });
  CHECK_THROWS_AS(m.work([] {}), heist::graph_error);
  CHECK_THROWS_AS(c.work([] {}), heist::graph_error);
}

TEST_CASE("tasks start asyncs, forks and graphs of their own, and wait for them", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    heist::task_graph g;
    std::atomic<int> n{0};
    for (int i = 0; i < 50; ++i) {
      g.emplace([&](heist::context c) {
        auto future = c.submit([&](heist::context d) {
          d.fork_join([&] { ++n; }, [&] { ++n; });
          return 1;
        });
        heist::task_graph local;
        auto a = local.emplace([&] { ++n; });
        auto b = local.emplace([&](heist::context d) { n += d.submit([] { return 1; }).get(); });
        a.precede(b);
        c.run(local).get();
        n += future.get();
      });
    }
    ex.run_n(g, 4).get();
    CHECK(n == 4 * 50 * 5);
  }
}

TEST_CASE("a local graph that a task does not wait for is waited for by its destructor", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<int> n{0};
  for (int i = 0; i < 20; ++i) {
    g.emplace([&](heist::context c) {
      heist::task_graph local;
      for (int k = 0; k < 10; ++k) {
        local.emplace([&] {
          heist_test::yield();
          ++n;
        });
      }
      static_cast<void>(c.run(local));
    });
  }
  ex.run(g).get();
  CHECK(n == 200);
}

TEST_CASE("an exception of a local run passes through the task that waits for it", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::string caught;
  g.emplace([&](heist::context c) {
    heist::task_graph local;
    local.emplace([] { throw std::runtime_error{"local"}; });
    try {
      c.run(local).get();
    } catch (std::runtime_error const& e) {
      caught = e.what();
      c.submit([] {}).get();  // waiting in a handler: the exception being handled is this task's own
      throw;
    }
  });
  CHECK_THROWS_WITH(ex.run(g).get(), "local");
  CHECK(caught == "local");
}

TEST_CASE("a task may start another run of its own graph, which is queued", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  std::optional<heist::graph_run> second;
  g.emplace([&](heist::context c) {
    if (++n == 1) second.emplace(c.run(g));
  });
  ex.run(g).get();
  second->get();
  CHECK(n == 2);
}

TEST_CASE("a finished run is reported although its worker goes on with a long task of another graph", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph finished, g;
  finished.emplace([] {});
  std::optional<heist::graph_run> run;
  bool seen = false;
  auto const look = [&] {
    if (!run) return;
    while (!run->is_ready()) std::this_thread::yield();
    seen = true;
  };
  g.emplace([&](heist::context c) { run.emplace(c.run(finished)); });  // its task runs next, the one below after it
  g.emplace(look);
  ex.run(g).get();
  CHECK(seen);
}
