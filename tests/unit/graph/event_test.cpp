// Tasks that are finished from outside (events), and tasks that run whatever has become of their run.
#include <heist/heist.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/texts.hpp"
#include "support/watchdog.hpp"

namespace {

/// Returns when `f()` is true.
template <class F>
void until(F&& f) {
  while (!f()) std::this_thread::yield();
}

/// A value that says how often it was moved or copied, and can refuse to be made.
struct fussy {
  explicit fussy(int n) : value{n} {
    if (n < 0) throw std::runtime_error{"no such value"};
  }
  int value;
};

}  // namespace

TEST_CASE("an event is fulfilled before the run reaches it, or after", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  heist::event<int> const first = g.emplace_event<int>();
  heist::event<> second = g.emplace_event();
  auto const sum = g.emplace([](int x) { return x + 1; }, first);
  std::atomic<bool> may_go{false};
  auto slow = g.emplace([&] {
    while (!may_go) std::this_thread::yield();
  });
  slow.precede(second), second.precede(sum);
  for (int i = 0; i < 50; ++i) {
    may_go = i % 2 == 0;
    auto run = ex.run(g);
    if (i % 3 == 0) std::this_thread::yield();
    std::thread outside{[&, i] {
      first.set_value(i);
      second.set_value();
    }};
    outside.join();
    may_go = true;
    run.get();
    CHECK(sum.result() == i + 1);
    CHECK(first.result() == i);
  }
}

TEST_CASE("a graph that waits for events only uses no worker", "[graph][event]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  std::vector<heist::event<int>> events;
  for (int i = 0; i < 100; ++i) events.push_back(g.emplace_event<int>());
  auto const total = g.emplace(
      [](heist::values<int> const& all) {
        int sum = 0;
        for (int const x : all) sum += x;
        return sum;
      },
      heist::each(events));
  auto run = ex.run(g);
  for (int i = 0; i < 10; ++i) CHECK(ex.submit([i] { return i; }).get() == i);  // the only worker is free
  CHECK_FALSE(run.is_ready());
  for (int i = 0; i < 100; ++i) events[static_cast<std::size_t>(i)].set_value(i);
  run.get();
  CHECK(total.result() == 4950);
}

TEST_CASE("a task may fulfil an event, of its own graph too", "[graph][event]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto const e = g.emplace_event<std::string>();
  g.emplace([&] { e.set_value("from a task"); });
  auto const size = g.emplace([](std::string const& s) { return s.size(); }, e);
  ex.run_n(g, 20).get();
  CHECK(size.result() == 11);
}

TEST_CASE("an event that fails ends its run with the exception, and the next may go well", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto const e = g.emplace_event<fussy>();
  bool ran = false;
  auto const after = g.emplace([&](fussy const& f) { return ran = true, f.value; }, e);
  {
    auto run = ex.run(g);
    e.set_exception(std::make_exception_ptr(std::runtime_error{"no line"}));
    CHECK_THROWS_WITH(run.get(), "no line");
    CHECK_FALSE(ran);
    CHECK_THROWS_AS(e.result(), heist::graph_error);
  }
  {
    auto run = ex.run(g);
    e.set_value(-1);  // the exception of making the value is the event's
    CHECK_THROWS_WITH(run.get(), "no such value");
    CHECK_FALSE(ran);
  }
  auto run = ex.run(g);
  e.set_value(7);
  run.get();
  CHECK(after.result() == 7);
}

TEST_CASE("an event fulfilled twice, or without a run, is refused in one sentence", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto e = g.emplace_event<int>();
  e.name("answer");
  auto const gate = g.emplace_event<>();
  std::string const none = heist_test::error_text_of<heist::graph_error>([&] { e.set_value(1); });
  CHECK_THAT(none, Catch::Contains("answer") && Catch::Contains("no run") && Catch::Contains("fix it"));
  auto run = ex.run(g);
  e.set_value(1);
  CHECK_THAT(heist_test::error_text_of<heist::graph_error>([&] { e.set_value(2); }),
             Catch::Contains("answer is fulfilled twice") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(e.set_exception(std::make_exception_ptr(1)), heist::graph_error);
  gate.set_value();
  run.get();
  CHECK(e.result() == 1);
  CHECK_THROWS_AS(e.set_value(3), heist::graph_error);
  CHECK_THROWS_AS(heist::event<int>{}.set_value(3), heist::graph_error);
}

TEST_CASE("a run that is stopped does not wait for its events", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto const e = g.emplace_event<int>();
  std::atomic<int> ran{0};
  g.emplace([&](int) { ++ran; }, e);
  std::atomic<int> put_back{0};
  auto last = g.emplace_always([&](heist::context c) { put_back += c.stop_requested() ? 1 : 100; });
  last.succeed(e);
  SECTION("by its handle") {
    auto run = ex.run(g);
    run.request_stop();
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
    CHECK(run.stopped());
  }
  SECTION("by a token, before it begins") {
    std::stop_source s;
    s.request_stop();
    ex.run(g, heist::with{.stop = s.get_token()}).wait();
  }
  SECTION("by a token, later") {
    std::stop_source s;
    auto run = ex.run(g, heist::with{.stop = s.get_token()});
    CHECK(ex.submit([] { return 1; }).get() == 1);
    until([&] { return ex.state_text().find("event") != std::string::npos; });
    s.request_stop();
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
  }
  SECTION("as a part of another graph, at any depth") {
    heist::task_graph outer, outermost;
    outer.compose(g);
    outermost.compose(outer);
    auto run = ex.run(outermost);
    CHECK(ex.submit([] { return 1; }).get() == 1);
    until([&] { return ex.state_text().find("event") != std::string::npos; });
    run.request_stop();
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
  }
  CHECK(ran == 0);
  CHECK(put_back == 1);
  e.set_value(1);  // too late, and not the caller's fault
  auto run = ex.run(g);
  e.set_value(1);
  run.get();
  CHECK(ran == 1);
  CHECK(put_back == 101);
}

TEST_CASE("an exception elsewhere in the run ends it, whatever it waits for", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  for (int i = 0; i < 10; ++i) g.emplace_event<int>();
  auto const last = g.emplace_event<int>();
  g.emplace([] { throw std::runtime_error{"boom"}; });
  bool told = false;
  g.emplace_always([&] { told = true; }).succeed(last);
  for (int i = 0; i < 20; ++i) {
    told = false;
    CHECK_THROWS_WITH(ex.run(g).get(), "boom");
    CHECK(told);
  }
}

TEST_CASE("events in loops, under limiters, in passes", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  SECTION("a loop passes a fulfilled event again") {
    auto begin = g.emplace([] {});
    auto const e = g.emplace_event<int>();
    int rounds = 0;
    auto body = g.emplace([&](int x) { rounds += x; }, e);
    auto again = g.emplace_condition([&] { return rounds < 50 ? 0 : 1; });
    begin.precede(e);
    body.precede(again);
    again.precede(e);
    for (int i = 0; i < 3; ++i) {
      rounds = 0;
      auto run = ex.run(g);
      e.set_value(10);
      run.get();
      CHECK(rounds == 50);
    }
  }
  SECTION("an event holds its limiter until it is fulfilled") {
    heist::limiter one{1};
    auto e = g.emplace_event<int>();
    e.limit(one);
    auto run = ex.run(g);
    until([&] { return one.available() == 0; });
    e.set_value(1);
    run.get();
    CHECK(one.available() == 1);
  }
  SECTION("a pass after the other waits for a value each") {
    auto const e = g.emplace_event<int>();
    std::atomic<int> seen{0};
    g.emplace([&](int x) { seen += x; }, e);
    auto run = ex.run_n(g, 5);
    for (int i = 1; i <= 5; ++i) {
      for (;;) {
        try {
          e.set_value(1);
          break;
        } catch (heist::graph_error const&) {  // the pass before has not ended
          std::this_thread::yield();
        }
      }
    }
    run.get();
    CHECK(seen == 5);
  }
}

TEST_CASE("an event that a loop reaches again before its value comes lets the run go on as often", "[graph][event]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
    heist::task_graph g;
    std::atomic<int> looped{0}, ran{0};
    auto begin = g.emplace([] {});
    auto body = g.emplace([] {});
    auto again = g.emplace_condition([&] { return ++looped < 10 ? 0 : 1; });
    auto value = g.emplace_event<int>();
    auto after = g.emplace([&] { ++ran; });
    begin.precede(body);
    body.precede(again, value);
    again.precede(body);
    value.precede(after);
    for (bool const stops : {false, true, false}) {
      looped = ran = 0;
      auto run = ex.run(g);
      while (looped < 10) std::this_thread::yield();
      if (stops) {
        run.request_stop();
        run.wait();
        CHECK(ran == 0);
      } else {
        value.set_value(7);
        run.get();
        CHECK(ran == 10);
      }
    }
  }
}

TEST_CASE("state_text names the events that are waited for", "[graph][event]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g{"doors"};
  auto e = g.emplace_event<int>();
  e.name("bell");
  auto run = ex.run(g);
  until([&] { return ex.state_text().find("event bell of the graph doors") != std::string::npos; });
  e.set_value(1);
  run.get();
  CHECK(ex.state_text().find("bell") == std::string::npos);
}

TEST_CASE("events are fulfilled by many threads while runs are stopped: each run ends", "[graph][event]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{300}};
  heist::task_graph g;
  std::vector<heist::event<std::unique_ptr<int>>> events;
  std::atomic<int> ran{0};
  for (int i = 0; i < 20; ++i) {
    events.push_back(g.emplace_event<std::unique_ptr<int>>());
    g.emplace([&](std::unique_ptr<int> const& p) { ran += *p; }, events.back());
  }
  for (int round = 0; round < 200; ++round) {
    ran = 0;
    auto run = ex.run(g);
    std::atomic<int> rejected{0};
    auto const receive = [&](std::size_t first) {
      for (std::size_t i = first; i < events.size(); i += 2) {
        try {
          events[i].set_value(std::make_unique<int>(1));
        } catch (heist::graph_error const&) {
          ++rejected;
        }
      }
    };
    std::thread even{receive, std::size_t{0}}, odd{receive, std::size_t{1}};
    if (round % 2 == 1) run.request_stop();
    even.join();
    odd.join();
    run.wait();
    CHECK(rejected == 0);
    if (round % 2 == 0) CHECK(ran == 20);
  }
}

TEST_CASE("an event is erased, and cleared, like any task", "[graph][event]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto const e = g.emplace_event<>();
  auto const kept = g.emplace_event<>();
  CHECK_THROWS_AS(heist::task<>{e}.work([] {}), heist::graph_error);
  g.erase(e);
  CHECK_FALSE(e.valid());
  CHECK_THROWS_AS(e.set_value(), heist::graph_error);
  auto run = ex.run(g);
  kept.set_value();
  run.get();
  g.clear();
  ex.run(g).get();
}

TEST_CASE("events: calls that chain keep the type", "[graph]") {
  heist::task_graph g;
  heist::limiter two{2};
  auto const before = g.emplace([] {});
  auto e = g.emplace_event<int>().name("e").priority(heist::priority::high).succeed(before).footprint(64).limit(two);
  static_assert(std::is_same_v<decltype(e), heist::event<int>>);
  static_assert(std::is_same_v<decltype(e.on_worker(0).on_squad(0).acquire(two).release(two).precede(before)),
                               heist::event<int>&>);
  int seen = 0;
  g.emplace([&seen](int x) { seen = x; }, e);
  CHECK(e.name() == "e");
  CHECK(e.priority() == heist::priority::high);
  heist::executor ex{1};
  auto run = ex.run(g);
  e.set_value(7);
  run.get();
  CHECK(seen == 7);
}
