// Conditions: tasks that choose what runs next.
#include <heist/heist.hpp>

#include <unistd.h>  // dup

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using seconds = std::chrono::seconds;

TEST_CASE("a condition runs the successor whose number it returns, and no other", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int choice = 0;
  std::vector<int> ran(4);
  auto choose = g.emplace_condition([&] { return choice; });
  for (int i = 0; i < 4; ++i) choose.precede(g.emplace([&ran, i] { ++ran[i]; }));
  for (choice = 0; choice < 4; ++choice) ex.run(g).get();
  CHECK(ran == std::vector<int>{1, 1, 1, 1});
  for (int const none : {-1, 4, 1000, INT32_MIN, INT32_MAX}) {
    choice = none;
    ex.run(g).get();
  }
  CHECK(ran == std::vector<int>{1, 1, 1, 1});
}

TEST_CASE("a condition may return any integral type, out of range is none", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  auto body = g.emplace([&] { ++n; });
  g.emplace_condition([] { return std::int64_t{1} << 40; }).precede(body);
  g.emplace_condition([] { return ~std::size_t{0}; }).precede(body);
  g.emplace_condition([] { return std::uint64_t{1} << 32; }).precede(body);
  ex.run(g).get();
  CHECK(n == 0);
  g.emplace_condition([] { return std::uint8_t{0}; }).precede(body);
  ex.run(g).get();
  CHECK(n == 1);
}

TEST_CASE("a loop through a condition runs as often as the condition says", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    heist::task_graph g;
    int i = 0, body_ran = 0, done_ran = 0;
    auto init = g.emplace([&] { i = 0; });
    auto body = g.emplace([&] { ++i, ++body_ran; });
    auto again = g.emplace_condition([&] { return i < 1000 ? 0 : 1; });
    auto done = g.emplace([&] { ++done_ran; });
    init.precede(body);
    body.precede(again);
    again.precede(body, done);
    ex.run_n(g, 3).get();
    CHECK(body_ran == 3000);
    CHECK(done_ran == 3);
  }
}

TEST_CASE("a condition may choose itself, and take a context", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0;
  auto start = g.emplace([] {});
  auto self = g.emplace_condition([&](heist::context c) { return ++n < 500 && c.worker_id() < 2 ? 0 : 1; });
  start.precede(self);
  self.precede(self);
  ex.run(g).get();
  CHECK(n == 500);
}

TEST_CASE("nested loops with parallel bodies join in every turn", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    heist::task_graph g;
    int outer = 0, inner = 0, joined = 0;
    std::vector<int> parallel(8);
    auto begin = g.emplace([&] { outer = 0; });
    auto outer_head = g.emplace([&] { inner = 0; });
    auto inner_head = g.emplace([] {});
    auto join = g.emplace([&] {
      ++joined;
      ++inner;
    });
    for (auto& p : parallel) g.emplace([&p] { ++p; }).succeed(inner_head).precede(join);
    auto inner_again = g.emplace_condition([&] { return inner < 7 ? 0 : 1; }).succeed(join);
    auto outer_tail = g.emplace([&] { ++outer; });
    inner_again.precede(inner_head, outer_tail);
    auto outer_again = g.emplace_condition([&] { return outer < 11 ? 0 : 1; }).succeed(outer_tail);
    auto end = g.emplace([] {});
    outer_again.precede(outer_head, end);
    begin.precede(outer_head);
    outer_head.precede(inner_head);
    ex.run_n(g, 4).get();
    CHECK(joined == 4 * 7 * 11);
    for (int const p : parallel) CHECK(p == 4 * 7 * 11);
  }
}

TEST_CASE("a multi-condition runs every successor that it names", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::vector<int> chosen;
  std::vector<std::atomic<int>> ran(6);
  auto choose = g.emplace_multi_condition([&] { return chosen; });
  for (auto& r : ran) choose.precede(g.emplace([&r] { ++r; }));
  chosen = {0, 2, 5};
  ex.run(g).get();
  chosen = {5, -1, 6, 1 << 30};
  ex.run(g).get();
  chosen = {};
  ex.run(g).get();
  chosen = {0, 1, 2, 3, 4, 5};
  ex.run_n(g, 10).get();
  CHECK((ran[0] == 11 && ran[1] == 10 && ran[2] == 11 && ran[3] == 10 && ran[4] == 10 && ran[5] == 12));
}

TEST_CASE("what a multi-condition has started may run on in loops of its own", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::task_graph g;
  std::vector<int> turns(10);
  std::vector<int> all;
  auto fan = g.emplace_multi_condition([&] { return all; });
  for (int i = 0; i < 10; ++i) {
    all.push_back(i);
    auto body = g.emplace([&turns, i] { ++turns[i]; });
    auto again = g.emplace_condition([&turns, i] { return turns[i] < 100 * (i + 1) ? 0 : 1; });
    fan.precede(body);
    body.precede(again);
    again.precede(body);
  }
  ex.run(g).get();
  for (int i = 0; i < 10; ++i) CHECK(turns[i] == 100 * (i + 1));
}

TEST_CASE("a pass that a condition cut short leaves nothing behind for the next", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  bool left = false;
  int joined = 0;
  auto choose = g.emplace_condition([&] { return left ? 0 : 5; });
  auto a = g.emplace([] {});
  auto b = g.emplace([] {});
  auto join = g.emplace([&] { ++joined; }).succeed(a, b);
  choose.precede(a);
  static_cast<void>(join);
  for (int i = 0; i < 10; ++i) {  // b alone arrives at the join
    ex.run(g).get();
    CHECK(joined == 0);
  }
  left = true;
  ex.run_n(g, 3).get();
  CHECK(joined == 3);
}

TEST_CASE("a condition that throws ends the run with its exception", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  int n = 0, after = 0;
  bool fail = true;
  auto start = g.emplace([&] { n = 0; });
  auto body = g.emplace([&] { ++n; });
  auto again = g.emplace_condition([&] {
    if (fail && n == 10) throw std::runtime_error{"ten"};
    return n < 20 ? 0 : 1;
  });
  auto done = g.emplace([&] { ++after; });
  start.precede(body);
  body.precede(again);
  again.precede(body, done);
  CHECK_THROWS_WITH(ex.run(g).get(), "ten");
  CHECK(n == 10);
  CHECK(after == 0);
  fail = false;
  ex.run(g).get();
  CHECK(n == 20);
  CHECK(after == 1);
}

TEST_CASE("an exception in the body of an endless loop ends it", "[graph]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{20}};
    heist::task_graph g;
    int n = 0;
    auto start = g.emplace([] {});
    auto body = g.emplace([&] {
      if (++n % 1000 == 0) throw n;
    });
    auto forever = g.emplace_condition([] { return 0; });
    start.precede(body);
    body.precede(forever);
    forever.precede(body);
    CHECK_THROWS_AS(ex.run(g).get(), int);
    CHECK(n == 1000);
    CHECK_THROWS_AS(ex.run(g).get(), int);
    CHECK(n == 2000);
  }
}

TEST_CASE("a stop ends an endless loop", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  std::atomic<int> n{0};
  auto start = g.emplace([] {});
  auto body = g.emplace([&] { ++n; });
  auto forever = g.emplace_condition([] { return 0; });
  start.precede(body);
  body.precede(forever);
  forever.precede(body);
  auto run = ex.run(g);
  while (n < 100) std::this_thread::yield();
  run.request_stop();
  run.wait();
  CHECK(run.stopped());
}

TEST_CASE("a condition's limits hold and are given back", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::limiter one{1};
  heist::task_graph g;
  int unprotected = 0;
  for (int i = 0; i < 8; ++i) {
    auto left = std::make_shared<int>(0);
    auto start = g.emplace([left] { *left = 50; });
    auto loop = g.emplace_condition([&unprotected, left] {
                   ++unprotected;
                   return --*left == 0 ? 1 : 0;
                 }).limit(one);
    start.precede(loop);
    loop.precede(loop);
  }
  ex.run_n(g, 3).get();
  CHECK(unprotected == 3 * 8 * 50);
  CHECK(one.available() == 1);
}

TEST_CASE("a module may be the body of a loop", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph inner, g;
  std::atomic<int> n{0};
  for (int i = 0; i < 10; ++i) inner.emplace([&] { ++n; });
  auto start = g.emplace([&] { n = 0; });
  auto body = g.compose(inner);
  auto again = g.emplace_condition([&] { return n < 500 ? 0 : 1; });
  start.precede(body);
  body.precede(again);
  again.precede(body);
  ex.run_n(g, 2).get();
  CHECK(n == 500);
}

TEST_CASE("a graph of conditions in which none can start is refused, and says how to fix it", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  auto a = g.emplace_condition([] { return 0; }).name("tick");
  auto b = g.emplace_condition([] { return 0; }).name("tock");
  a.precede(b);
  b.precede(a);
  CHECK_THROWS_AS(ex.run(g), heist::graph_error);
  CHECK_THROWS_WITH(ex.run(g), Catch::Contains("no task of the graph can start") && Catch::Contains("Fix it"));
  auto source = g.emplace_condition([] { return -1; });
  source.precede(a);
  ex.run(g).get();  // fixed
}

TEST_CASE("a cycle beside a loop with a condition is found all the same", "[graph][bad input]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::task_graph g;
  auto start = g.emplace([] {});
  auto loop = g.emplace_condition([] { return 1; }).name("loop");
  start.precede(loop);
  loop.precede(loop);
  auto x = g.emplace([] {}).name("x");
  auto y = g.emplace([] {}).name("y");
  auto leads_to_cycle = g.emplace([] {}).name("innocent");
  x.precede(y).succeed(leads_to_cycle);
  y.precede(x, loop);
  try {
    static_cast<void>(ex.run(g));
    FAIL("a graph with a cycle was accepted");
  } catch (heist::graph_error const& e) {
    std::string const text = e.what();
    CHECK((text.find("x -> y -> x") != std::string::npos || text.find("y -> x -> y") != std::string::npos));
    CHECK(text.find("innocent") == std::string::npos);
    CHECK(text.find("loop;") == std::string::npos);
  }
}

#if HEIST_CHECKED
namespace {

/// Calls f; returns the text that is written to stderr meanwhile.
template <class F>
std::string said_by(F&& f) {
  std::FILE* const kept = std::tmpfile();
  REQUIRE(kept != nullptr);
  std::fflush(stderr);
  int const before = ::dup(STDERR_FILENO);
  ::dup2(::fileno(kept), STDERR_FILENO);
  f();
  std::fflush(stderr);
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::rewind(kept);
  std::string text;
  for (int c = std::fgetc(kept); c != EOF; c = std::fgetc(kept)) text += static_cast<char>(c);
  std::fclose(kept);
  return text;
}

}  // namespace

TEST_CASE("tasks that never run beside conditions are named, once, where programs are checked", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  {
    heist::task_graph g;  // the way into the loop and the way back both count
    auto init = g.emplace([] {});
    auto choose = g.emplace_condition([] { return 1; }).name("choose");
    auto body = g.emplace([] {}).name("body");
    auto done = g.emplace([] {}).name("done");
    init.precede(choose);
    choose.precede(body, done);
    body.precede(choose);
    std::string const text = said_by([&] { ex.run_n(g, 3).get(); });
    CHECK(text.find("3 tasks of a graph can never run") != std::string::npos);
    CHECK(text.find("choose, body, done") != std::string::npos);
    CHECK(text.find("heist:") == text.rfind("heist:"));
  }
  {
    heist::task_graph g;  // a join of branches of which one runs
    auto choose = g.emplace_condition([] { return 0; });
    auto one = g.emplace([] {}), two = g.emplace([] {});
    auto join = g.emplace([] {}).name("join");
    choose.precede(one, two);
    join.succeed(one, two);
    std::string const text = said_by([&] { ex.run_n(g, 3).get(); });
    CHECK(text.find("join did not run again before its run ended: 1 of its 2") != std::string::npos);
    CHECK(text.find("heist:") == text.rfind("heist:"));
  }
  {
    heist::task_graph g;  // a loop with parallel bodies: nothing to say
    int left = 3;
    auto init = g.emplace([] {}), body = g.emplace([] {}), a = g.emplace([] {}), b = g.emplace([] {});
    auto again = g.emplace_condition([&] { return --left > 0 ? 0 : 1; });
    init.precede(body);
    body.precede(a, b);
    again.succeed(a, b);
    again.precede(body);
    CHECK(said_by([&] { ex.run(g).get(); }).empty());
  }
}
#endif
