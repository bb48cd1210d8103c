// Bad input: each mistake gets an error that names the mistake, its reason and its fix; nothing hangs.
#include <fmt/format.h>
#include <heist/heist.hpp>

#include <unistd.h>  // dup, dup2
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/random_graph.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using seconds = std::chrono::seconds;

namespace {

/// The error text of run() for the graph; empty if run() accepts it.
std::string error_text(heist::task_graph& g) {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  try {
    ex.run(g).get();
  } catch (heist::graph_error const& e) {
    return e.what();
  }
  return {};
}

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

}  // namespace

TEST_CASE("a cycle is refused before anything runs, and the message names its path", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  bool ran = false;
  auto start = g.emplace([&] { ran = true; }).name("start");
  auto a = g.emplace([] {}).name("alpha");
  auto b = g.emplace([] {}).name("beta");
  auto c = g.emplace([] {}).name("gamma");
  auto end = g.emplace([] {}).name("end");
  start.precede(a);
  a.precede(b);
  b.precede(c);
  c.precede(a, end);
  try {
    static_cast<void>(ex.run(g));
    FAIL("accepted");
  } catch (heist::graph_error const& e) {
    std::string const text = e.what();
    INFO(text);
    CHECK((count(text, "alpha -> beta -> gamma -> alpha") == 1 || count(text, "beta -> gamma -> alpha -> beta") == 1 ||
           count(text, "gamma -> alpha -> beta -> gamma") == 1));
    CHECK(count(text, "cycle") == 1);
    CHECK(count(text, "start") <= 1);  // in "can ever start"
    CHECK(count(text, "-> end") == 0);
    CHECK(count(text, "Fix it") == 1);
  }
  ex.wait_idle();
  CHECK_FALSE(ran);
  CHECK_THROWS_AS(ex.run_n(g, 2), heist::graph_error);
  CHECK_THROWS_AS(ex.run_until(g, [] { return true; }), heist::graph_error);
  g.erase_edge(c, a);
  ex.run(g).get();
  CHECK(ran);
}

TEST_CASE("an edge from a task to itself is a cycle of one", "[graph][bad input]") {
  heist::task_graph g;
  auto a = g.emplace([] {}).name("self");
  a.precede(a);
  CHECK(count(error_text(g), "self -> self") == 1);
}

TEST_CASE("a long cycle is named in part", "[graph][bad input]") {
  heist::task_graph g;
  std::vector<heist::task<>> ring;
  for (int i = 0; i < 10'000; ++i) ring.push_back(g.emplace([] {}).name(fmt::format("n{}", i)));
  for (std::size_t i = 0; i < ring.size(); ++i) ring[i].precede(ring[(i + 1) % ring.size()]);
  std::string const text = error_text(g);
  CHECK(count(text, " -> ") > 20);
  CHECK(count(text, "...") == 1);
  CHECK(text.size() < 2000);
}

TEST_CASE("one cycle among 100000 tasks is found and named", "[graph][bad input]") {
  heist_test::random_engine random{7};
  heist_test::plain_graph plain = heist_test::make_graph(heist_test::shape::random_order, 100'000, random);
  heist::task_graph g;
  std::vector<heist::task<>> tasks;
  for (std::uint32_t i = 0; i < plain.size; ++i) tasks.push_back(g.emplace([] {}));
  for (auto const& [from, to] : plain.edges) tasks[from].precede(tasks[to]);
  CHECK(error_text(g).empty());
  auto x = g.emplace([] {}).name("first of three");
  auto y = g.emplace([] {}).name("second of three");
  auto z = g.emplace([] {}).name("third of three");
  x.precede(y, tasks[50'000]).succeed(tasks[10]);
  y.precede(z);
  z.precede(x, tasks[99'999]);
  std::string const text = error_text(g);
  INFO(text);
  CHECK(count(text, "first of three -> second of three") + count(text, "second of three -> third of three") >= 1);
  CHECK(count(text, " -> ") == 3);
  CHECK(count(text, "#") == 0);
}

TEST_CASE("a cycle through a value is a cycle", "[graph][bad input]") {
  heist::task_graph g;
  auto a = g.emplace([] { return 1; }).name("giver");
  auto b = g.emplace([](int) {}, a).name("taker");
  b.precede(a);
  std::string const text = error_text(g);
  CHECK(count(text, "giver -> taker") + count(text, "taker -> giver") >= 2);
}

TEST_CASE("a graph that runs refuses every change, says so, and runs on", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g, other;
  std::atomic<bool> started{false}, go{false};
  std::atomic<int> after{0};
  heist::limiter one{1};
  auto a = g.emplace([&] {
    started = true;
    while (!go) std::this_thread::yield();
  });
  auto b = g.emplace([&] { ++after; }).succeed(a);
  auto p = g.placeholder();
  auto run = ex.run(g);
  while (!started) std::this_thread::yield();
  auto const rejected = [&](auto&& change) {
    try {
      change();
      return false;
    } catch (heist::graph_error const& e) {
      std::string const text = e.what();
      return count(text, "while the graph runs") == 1 && count(text, "fix it") == 1;
    }
  };
  CHECK(rejected([&] { g.emplace([] {}); }));
  CHECK(rejected([&] { g.emplace([] {}, [] {}); }));
  CHECK(rejected([&] { g.emplace([] {}, a); }));
  CHECK(rejected([&] { g.placeholder(); }));
  CHECK(rejected([&] { g.emplace_condition([] { return 0; }); }));
  CHECK(rejected([&] { g.emplace_multi_condition([] { return std::vector<int>{}; }); }));
  CHECK(rejected([&] { g.compose(other); }));
  CHECK(rejected([&] { a.precede(p); }));
  CHECK(rejected([&] { a.succeed(p); }));
  CHECK(rejected([&] { g.erase(b); }));
  CHECK(rejected([&] { g.erase_edge(a, b); }));
  CHECK(rejected([&] { g.clear(); }));
  CHECK(rejected([&] { p.work([] {}); }));
  CHECK(rejected([&] { b.limit(one); }));
  CHECK(rejected([&] { b.acquire(one); }));
  CHECK(rejected([&] { b.release(one); }));
  CHECK(g.size() == 3);
  CHECK(g.edge_count() == 1);
  go = true;
  run.get();
  CHECK(after == 1);
  g.emplace([&] { ++after; });
  ex.run(g).get();
  CHECK(after == 3);
}

TEST_CASE("a task that changes its own graph fails its run", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  g.emplace([&] { g.emplace([] {}); });
  CHECK_THROWS_WITH(ex.run(g).get(), Catch::Contains("while the graph runs"));
  CHECK(g.size() == 1);
}

TEST_CASE("a graph with a run in line refuses changes, too", "[graph][bad input]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  std::atomic<bool> go{false};
  heist::task_graph g;
  g.emplace([&] {
    while (!go) std::this_thread::yield();
  });
  auto first = ex.run(g);
  auto second = ex.run(g);
  CHECK_THROWS_AS(g.emplace([] {}), heist::graph_error);
  go = true;
  second.get();
  g.emplace([] {});
}

TEST_CASE("an inner graph refuses changes while a module runs it", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph inner, g;
  inner.emplace([&] { inner.emplace([] {}); });
  g.compose(inner);
  CHECK_THROWS_WITH(ex.run(g).get(), Catch::Contains("while the graph runs"));
}

TEST_CASE("the destructor of a graph waits for its runs, in progress and in line", "[graph][bad input]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    std::atomic<int> n{0};
    heist_test::rounds rounds{300};
    while (rounds.next()) {
      heist::task_graph g;
      auto a = g.emplace([&] { ++n; });
      for (int i = 0; i < 8; ++i) {
        a.precede(g.emplace([&n, i] {
          if (i % 2 == 0) heist_test::yield();
          ++n;
        }));
      }
      for (int i = 0; i < 3; ++i) static_cast<void>(ex.run(g));
    }
    CHECK(n == rounds.begun() * 27);
  }
}

TEST_CASE("assigning to a graph waits for its runs", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  std::atomic<int> n{0};
  heist::task_graph g;
  for (int i = 0; i < 10; ++i) {
    g.emplace([&] {
      heist_test::yield();
      ++n;
    });
  }
  static_cast<void>(ex.run_n(g, 5));
  g = heist::task_graph{};
  CHECK(n == 50);
  CHECK(g.empty());
}

TEST_CASE("a graph that runs may be moved", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  std::atomic<int> n{0};
  std::atomic<bool> go{false};
  heist::task_graph a;
  a.emplace([&] {
    while (!go) std::this_thread::yield();
    ++n;
  });
  auto run = ex.run(a);
  heist::task_graph b{std::move(a)};
  CHECK_THROWS_AS(b.emplace([] {}), heist::graph_error);
  go = true;
  run.get();
  ex.run(b).get();
  CHECK(n == 2);
}

TEST_CASE("an edge between tasks of different graphs is refused", "[graph][bad input]") {
  heist::task_graph g, h;
  auto a = g.emplace([] {});
  auto b = h.emplace([] {});
  CHECK_THROWS_WITH(a.precede(b), Catch::Contains("same graph") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(a.succeed(b), heist::graph_error);
  CHECK_THROWS_AS(g.erase(b), heist::graph_error);
  CHECK_THROWS_AS(g.erase_edge(a, b), heist::graph_error);
  CHECK(g.edge_count() + h.edge_count() == 0);
}

TEST_CASE("handles of erased tasks and handles of nothing are refused everywhere", "[graph][bad input]") {
  heist::task_graph g;
  heist::limiter one{1};
  auto good = g.emplace([] {});
  auto erased = g.emplace([] { return 1; });
  g.erase(erased);
  auto const check = [&](auto t) {
    CHECK_FALSE(t.valid());
    CHECK_THROWS_WITH(t.name("x"), Catch::Contains("refers to no task") && Catch::Contains("fix it"));
    CHECK_THROWS_AS(t.name(), heist::graph_error);
    CHECK_THROWS_AS(t.precede(good), heist::graph_error);
    CHECK_THROWS_AS(good.precede(t), heist::graph_error);
    CHECK_THROWS_AS(t.succeed(good), heist::graph_error);
    CHECK_THROWS_AS(t.limit(one), heist::graph_error);
    CHECK_THROWS_AS(t.acquire(one), heist::graph_error);
    CHECK_THROWS_AS(t.release(one), heist::graph_error);
    CHECK_THROWS_AS(t.successor_count(), heist::graph_error);
    CHECK_THROWS_AS(t.predecessor_count(), heist::graph_error);
    CHECK_THROWS_AS(t.for_each_successor([](heist::task<>) {}), heist::graph_error);
    CHECK_THROWS_AS(t.for_each_predecessor([](heist::task<>) {}), heist::graph_error);
    CHECK_THROWS_AS(t.result(), heist::graph_error);
    CHECK_THROWS_AS(g.erase(t), heist::graph_error);
    CHECK_THROWS_AS(g.erase_edge(good, t), heist::graph_error);
    CHECK_THROWS_AS(g.emplace([](int) {}, t), heist::graph_error);
    heist::task<> plain = t;
    CHECK_THROWS_AS(plain.work([] {}), heist::graph_error);
  };
  check(erased);
  check(heist::task<int>{});
  CHECK(g.size() == 1);
  CHECK(g.edge_count() == 0);
}

#ifndef NDEBUG
TEST_CASE("a number that is not used, and several successors: said once, where a condition may be meant",
          "[graph][bad input]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  auto const said = [&](heist::task_graph& g) {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    std::fflush(stderr);
    int const kept = ::dup(2);
    ::dup2(::fileno(file), 2);
    ex.run(g).get();
    std::fflush(stderr);
    ::dup2(kept, 2);
    ::close(kept);
    std::rewind(file);
    std::string text(1000, ' ');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
  };
  auto const build = [](heist::task_graph& g, auto f, int successors) {
    auto t = g.emplace(f).name("looks like a condition");
    for (int i = 0; i < successors; ++i) t.precede(g.emplace([] {}));
    return t;
  };
  heist::task_graph meant, one, text, taken;
  build(
      meant, [] { return 0; }, 2);
  std::string const message = said(meant);
  CHECK(message.find("looks like a condition returns a number that is not used") != std::string::npos);
  CHECK(message.find("fix it by emplace_condition") != std::string::npos);
  meant.emplace([] {});
  CHECK(said(meant).empty());
  build(
      one, [] { return 0; }, 1);
  CHECK(said(one).empty());
  build(
      text, [] { return std::string{}; }, 2);
  CHECK(said(text).empty());
  auto t = build(
      taken, [] { return 0; }, 2);
  taken.emplace([](int) {}, t);
  CHECK(said(taken).empty());
}
#endif
