// heist::take, heist::each, heist::on: what tasks are given besides the values of single tasks.
#include <heist/heist.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

TEST_CASE("the task that takes a value gets it itself, after all that read it", "[graph][take]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  int const* address = nullptr;
  auto const made = g.emplace([&] {
    std::vector<int> v(1000, 1);
    address = v.data();
    return v;
  });
  std::atomic<int> read{0};
  std::vector<heist::task<>> readers;
  for (int i = 0; i < 10; ++i) readers.push_back(g.emplace([&](std::vector<int> const& v) { read += v[0]; }, made));
  int seen = -1;
  auto const taken = g.emplace(
      [&](std::vector<int>&& v) {
        seen = read;
        v[0] = 2;
        return std::move(v);
      },
      heist::take(made));
  for (int i = 0; i < 10; ++i) g.emplace([&](std::vector<int> const& v) { read += v[0]; }, made);  // also later ones
  auto const edges = g.edge_count();
  for (int i = 0; i < 20; ++i) {
    read = 0;
    ex.run(g).get();
    CHECK(seen == 20);
    CHECK(taken.result().data() == address);
    CHECK(taken.result()[0] == 2);
    CHECK_THROWS_AS(made.result(), heist::graph_error);
  }
  CHECK(g.edge_count() == edges);
}

TEST_CASE("values that only move go along a chain of tasks", "[graph][take]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto last = g.emplace([] { return std::make_unique<int>(0); });
  for (int i = 0; i < 100; ++i) {
    last = g.emplace(
        [](std::unique_ptr<int> p) {
          ++*p;
          return p;
        },
        heist::take(last));
  }
  ex.run_n(g, 10).get();
  CHECK(*last.result() == 100);
}

TEST_CASE("two tasks that take one value are refused when the second is added", "[graph][take]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto made = g.emplace([] { return 1; });
  made.name("made");
  auto const first = g.emplace([](int&& x) { return x; }, heist::take(made));
  std::size_t const size = g.size(), edges = g.edge_count();
  CHECK_THROWS_WITH(g.emplace([](int&& x) { return x; }, heist::take(made)),
                    Catch::Contains("the value of made would be taken twice") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(g.emplace([](int&&, int) {}, heist::take(first), first), heist::graph_error);
  CHECK_THROWS_AS(g.emplace([](int&&, int&&) {}, heist::take(first), heist::take(first)), heist::graph_error);
  CHECK(g.size() == size);
  CHECK(g.edge_count() == edges);
  g.erase(first);
  g.emplace([](int&& x) { return x; }, heist::take(made));
  ex.run(g).get();
}

TEST_CASE("a value is not taken where conditions choose, nor from itself", "[graph][take]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto const made = g.emplace([] { return 1; });
  auto const consumer = g.emplace([](int&& x) { return x; }, heist::take(made));
  SECTION("conditions") {
    auto c = g.emplace_condition([] { return 0; });
    CHECK_THROWS_WITH(ex.run(g).get(), Catch::Contains("conditions") && Catch::Contains("fix it"));
    g.erase(c);
    ex.run(g).get();
    CHECK(consumer.result() == 1);
  }
  SECTION("a reader that needs what the taker leaves") {
    auto const reader = g.emplace([](int, int) {}, made, consumer);
    CHECK_THROWS_WITH(ex.run(g).get(), Catch::Contains("cycle"));
    g.erase(reader);
    ex.run(g).get();
  }
}

TEST_CASE("what a task has taken is gone also if the task throws, and the graph can run again", "[graph][take]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto alive = std::make_shared<int>(1);
  bool fail = true;
  auto const made = g.emplace([&] { return alive; });
  auto const consumer = g.emplace(
      [&](std::shared_ptr<int>&& p) {
        if (fail) throw std::runtime_error{"no"};
        return *p;
      },
      heist::take(made));
  CHECK_THROWS_WITH(ex.run(g).get(), "no");
  CHECK(alive.use_count() == 1);
  fail = false;
  ex.run(g).get();
  CHECK(consumer.result() == 1);
  CHECK(alive.use_count() == 1);
}

TEST_CASE("each gives all values of a range whose length is known at run time only", "[graph][each]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  std::vector<heist::task<int>> in;
  for (int i = 0; i < 100; ++i) in.push_back(g.emplace([i] { return i; }));
  auto const total = g.emplace(
      [](auto const& all) {
        int t = 0;
        for (int const x : all) t += x;
        return t;
      },
      heist::each(in));
  auto const middle = g.emplace(
      [](heist::context, heist::values<int> all, int more) {
        STATIC_REQUIRE(std::random_access_iterator<heist::values<int>::iterator>);
        CHECK(all.size() == 100);
        CHECK(all.end() - all.begin() == 100);
        CHECK(*std::max_element(all.begin(), all.end()) == 99);
        CHECK(&all[3] == &*(all.begin() + 3));
        return all[50] + more;
      },
      heist::each(in), total);
  auto const none =
      g.emplace([](heist::values<int> all) { return all.empty(); }, heist::each(std::vector<heist::task<int>>{}));
  ex.run_n(g, 5).get();
  CHECK(total.result() == 4950);
  CHECK(middle.result() == 5000);
  CHECK(none.result());
  CHECK(total.predecessor_count() == 100);
}

TEST_CASE("each of tasks without values is an order, of events their values", "[graph][each]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  std::atomic<int> n{0};
  std::deque<heist::task<>> first;
  for (int i = 0; i < 50; ++i) first.push_back(g.emplace([&] { ++n; }));
  auto const after = g.emplace([&] { return n.load(); }, heist::each(first));
  std::array const events{g.emplace_event<int>(), g.emplace_event<int>()};
  auto const sum = g.emplace([](heist::values<int> v) { return v[0] + v[1]; }, heist::each(events));
  auto run = ex.run(g);
  events[1].set_value(1), events[0].set_value(2);
  run.get();
  CHECK(after.result() == 50);
  CHECK(sum.result() == 3);
}

TEST_CASE("a task of another graph is refused in every form", "[graph][each][take]") {
  heist::task_graph g, other;
  auto const theirs = other.emplace([] { return 1; });
  CHECK_THROWS_AS(g.emplace([](int&&) {}, heist::take(theirs)), heist::graph_error);
  CHECK_THROWS_AS(g.emplace([](heist::values<int>) {}, heist::each(std::vector{theirs})), heist::graph_error);
  CHECK(g.empty());
}

TEST_CASE("a graph for one process ignores on()", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  auto const a = g.emplace(heist::on(3), [] { return 1; });
  auto const b = g.emplace(
      heist::on(4), [](int x, heist::values<int> v) { return x + v[0]; }, a, heist::each(std::vector{a}));
  ex.run(g).get();
  CHECK(b.result() == 2);
}

TEST_CASE("random graphs with values that are taken leave what sequential execution leaves", "[graph][take][random]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{300}};
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::minstd_rand random{seed + 1};
    heist::task_graph g;
    std::vector<heist::task<std::string>> tasks;
    std::vector<std::string> want;
    std::vector<bool> taken;
    for (std::size_t i = 0; i < 60; ++i) {
      std::vector<std::size_t> from;
      for (std::size_t k = random() % 4; i != 0 && k > 0; --k) {
        std::size_t const f = random() % i;
        if (!taken[f] && std::find(from.begin(), from.end(), f) == from.end()) from.push_back(f);
      }
      std::string expected = std::to_string(i);
      for (std::size_t const f : from) expected = std::to_string(std::hash<std::string>{}(expected + want[f]));
      auto const mix = [i](auto const&... x) {
        std::string s = std::to_string(i);
        ((s = std::to_string(std::hash<std::string>{}(s + x))), ...);
        return s;
      };
      auto const mix_all = [i](heist::values<std::string> all) {
        std::string s = std::to_string(i);
        for (std::string const& x : all) s = std::to_string(std::hash<std::string>{}(s + x));
        return s;
      };
      if (from.size() == 1 && random() % 2 == 0) {
        taken[from[0]] = true;
        tasks.push_back(
            g.emplace([mix](std::string&& x) { return mix(std::string{std::move(x)}); }, heist::take(tasks[from[0]])));
      } else if (from.size() == 2) {
        tasks.push_back(g.emplace(mix, tasks[from[0]], tasks[from[1]]));
      } else {
        std::vector<heist::task<std::string>> in;
        for (std::size_t const f : from) in.push_back(tasks[f]);
        tasks.push_back(g.emplace(mix_all, heist::each(in)));
      }
      want.push_back(expected);
      taken.push_back(false);
    }
    for (int pass = 0; pass < 3; ++pass) {
      ex.run(g).get();
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!taken[i]) CHECK(tasks[i].result() == want[i]);
      }
    }
  }
}

TEST_CASE("inputs: a taken value in a graph whose edges were counted before", "[graph]") {
  heist::executor<> ex{2};
  for (int i = 0; i != 50; ++i) {
    heist::task_graph g;
    int readers = 0, takers = 0, last = 0;
    auto made = g.emplace([] { return std::string(40, 'x'); });
    auto reader = g.emplace([&](std::string const& s) { readers += s.size() == 40; }, made);
    auto taker = g.emplace([&](std::string s) { takers += s.size() == 40; }, heist::take(made));
    auto after = g.emplace([&] { ++last; });
    taker.precede(after);
    CHECK(made.successor_count() == 2);
    CHECK(reader.predecessor_count() == 1);
    ex.run(g).get();
    CHECK(readers == 1);
    CHECK(takers == 1);
    CHECK(last == 1);
  }
}
