// Values along edges.
#include <heist/heist.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

TEST_CASE("values flow along edges, through several levels", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  std::vector<heist::task<long>> level;
  for (int i = 0; i < 64; ++i) level.push_back(g.emplace([i] { return long{i}; }));
  while (level.size() > 1) {
    std::vector<heist::task<long>> next;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      next.push_back(g.emplace([](long a, long b) { return a + b; }, level[i], level[i + 1]));
    }
    level = next;
  }
  ex.run_n(g, 10).get();
  CHECK(level[0].result() == 64 * 63 / 2);
  CHECK(g.edge_count() == 126);
}

TEST_CASE("the type of a handle is the type of the value", "[graph]") {
  heist::task_graph g;
  static int global = 0;
  STATIC_REQUIRE(std::is_same_v<decltype(g.emplace([] {})), heist::task<void>>);
  STATIC_REQUIRE(std::is_same_v<decltype(g.emplace([] { return 1; })), heist::task<int>>);
  STATIC_REQUIRE(std::is_same_v<decltype(g.emplace([](heist::context) { return 'c'; })), heist::task<char>>);
  STATIC_REQUIRE(std::is_same_v<decltype(g.emplace([]() -> int& { return global; })), heist::task<int&>>);
  STATIC_REQUIRE(std::is_same_v<decltype(g.placeholder()), heist::task<>>);
}

TEST_CASE("a value that only moves is left in place and seen by several tasks", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  int n = 4;
  auto made = g.emplace([&] { return std::make_unique<int>(++n); });
  auto left = g.emplace([](std::unique_ptr<int> const& p) { return p.get(); }, made);
  auto right = g.emplace([](std::unique_ptr<int> const& p) { return p.get(); }, made);
  ex.run(g).get();
  CHECK(*made.result() == 5);
  CHECK(left.result() == made.result().get());
  CHECK(right.result() == left.result());
  ex.run(g).get();
  CHECK(*made.result() == 6);
}

TEST_CASE("a reference stays a reference", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  std::string text = "a";
  auto ref = g.emplace([&]() -> std::string& { return text; });
  auto add = g.emplace([](std::string& s) { s += 'b'; }, ref);
  auto const_ref = g.emplace([](std::string& s) -> std::string const& { return s; }, ref);
  const_ref.succeed(add);
  auto length = g.emplace([](std::string const& s) { return s.size(); }, const_ref);
  ex.run(g).get();
  CHECK(text == "ab");
  CHECK(&ref.result() == &text);
  CHECK(length.result() == 2);
}

TEST_CASE("a value need be neither movable nor default constructible", "[graph]") {
  struct strict {
    explicit strict(int v) : value{v} {}
    strict(strict&&) = delete;  // cannot be moved: made in its final place
    int value;
  };
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto a = g.emplace([] { return strict{3}; });
  auto b = g.emplace([](strict const& s) { return s.value * 2; }, a);
  auto c = g.emplace([](int n) { return n + 1; }, b);
  ex.run(g).get();
  CHECK(c.result() == 7);
  CHECK(a.result().value == 3);
}

TEST_CASE("a task may take the context and values, in that order", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto a = g.emplace([] { return 20; });
  auto b = g.emplace([](heist::context c) { return c.submit([] { return 22; }).get(); });
  auto sum = g.emplace([](auto c, int x, int y) { return c.submit([=] { return x + y; }).get(); }, a, b);
  ex.run(g).get();
  CHECK(sum.result() == 42);
}

TEST_CASE("a task without a value among the arguments adds its edge only", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  bool first = false;
  auto order = g.emplace([&] { first = true; });
  auto value = g.emplace([] { return 5; });
  auto both = g.emplace([&](int v) { return first ? v : -1; }, order, value, order);
  CHECK(both.predecessor_count() == 3);
  ex.run_n(g, 3).get();
  CHECK(both.result() == 5);
}

TEST_CASE("the same value may be taken twice", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto a = g.emplace([] { return 6; });
  auto square = g.emplace([](int x, int y) { return x * y; }, a, a);
  ex.run_n(g, 3).get();
  CHECK(square.result() == 36);
}

TEST_CASE("a run replaces the values of the run before", "[graph]") {
  static int alive;
  alive = 0;
  struct counted {
    explicit counted(int v) : value{v} { ++alive; }
    counted(counted&& other) noexcept : value{other.value} { ++alive; }
    ~counted() { --alive; }
    int value;
  };
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  {
    heist::task_graph g;
    int n = 0;
    auto a = g.emplace([&] { return counted{++n}; });
    auto b = g.emplace([](counted const& c) { return c.value * 10; }, a);
    for (int i = 1; i <= 5; ++i) {
      ex.run(g).get();
      CHECK(a.result().value == i);
      CHECK(b.result() == i * 10);
      CHECK(alive == 1);
    }
  }
  CHECK(alive == 0);
}

TEST_CASE("a result that was not made is an error that says why and how to fix it", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  bool fail = true;
  auto a = g.emplace([&] {
              if (fail) throw std::runtime_error{"a"};
              return 1;
            }).name("first");
  auto b = g.emplace([](int v) { return v + 1; }, a).name("second");
  auto const says = [](auto const& t, char const* name) {
    try {
      t.result();
      return false;
    } catch (heist::graph_error const& e) {
      std::string const text = e.what();
      return text.find(name) != std::string::npos && text.find("fix it") != std::string::npos;
    }
  };
  CHECK(says(a, "first"));  // has not run
  CHECK_THROWS_WITH(ex.run(g).get(), "a");
  CHECK(says(a, "first"));   // threw
  CHECK(says(b, "second"));  // was skipped
  fail = false;
  ex.run(g).get();
  CHECK(b.result() == 2);
}

TEST_CASE("a task that was skipped has no result, not that of an earlier run", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  bool fail = false;
  auto a = g.emplace([&] {
    if (fail) throw std::runtime_error{"a"};
  });
  auto b = g.emplace([] { return 1; }, a);
  ex.run(g).get();
  CHECK(b.result() == 1);
  fail = true;
  CHECK_THROWS(ex.run(g).get());
  CHECK_THROWS_AS(b.result(), heist::graph_error);
}

TEST_CASE("the value of a task that a condition has led around is an error that names the tasks", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  int way = 1;
  auto choose = g.emplace_condition([&] { return way; });
  auto value = g.emplace([] { return 1; }).name("producer");
  auto consumer = g.emplace([](int v) { return v; }, value).name("taker");
  choose.precede(value, consumer);  // 0: through the producer, 1: around it
  auto const run = [&] {
    try {
      ex.run(g).get();
      return std::string{};
    } catch (heist::graph_error const& e) {
      return std::string{e.what()};
    }
  };
  std::string const text = run();
  CHECK(text.find("taker") != std::string::npos);
  CHECK(text.find("has not run") != std::string::npos);
  CHECK(text.find("Fix it") != std::string::npos);
  way = 0;
  CHECK(run() == "");
  CHECK(consumer.result() == 1);
  way = 1;
  CHECK(run() != "");  // the value of an earlier run is not this run's
}

TEST_CASE("a value whose construction throws fails the run and leaves no value", "[graph]") {
  struct picky {
    explicit picky(bool fail) {
      if (fail) throw std::runtime_error{"picky"};
    }
  };
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  bool fail = false;
  auto a = g.emplace([&] { return picky{fail}; });
  ex.run(g).get();
  fail = true;
  CHECK_THROWS_WITH(ex.run(g).get(), "picky");
  CHECK_THROWS_AS(a.result(), heist::graph_error);
}

TEST_CASE("what others take a value from cannot be erased, and its edge neither", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto a = g.emplace([] { return 1; }).name("giver");
  auto b = g.emplace([](int v) { return v; }, a).name("taker");
  a.precede(b);  // and an edge without a value
  CHECK_THROWS_WITH(g.erase(a), Catch::Contains("taker takes the value of giver") && Catch::Contains("fix it"));
  CHECK_THROWS_WITH(g.erase_edge(a, b), Catch::Contains("giver -> taker carries a value") && Catch::Contains("fix"));
  CHECK(g.size() == 2);
  CHECK(g.edge_count() == 2);
  g.erase(b);
  g.erase(a);
  CHECK(g.empty());
}

TEST_CASE("a task with a value does not get other work through a handle without it", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto a = g.emplace([] { return std::string{"a value"}; });
  auto b = g.emplace([](std::string const& s) { return s.size(); }, a);
  heist::task<> plain = a;
  CHECK_THROWS_AS(plain.work([] {}), heist::graph_error);
  ex.run(g).get();
  CHECK(a.result() == "a value");
  CHECK(b.result() == 7);
}

TEST_CASE("a value from a task of another graph is refused", "[graph]") {
  heist::task_graph g, other;
  auto external = other.emplace([] { return 1; });
  CHECK_THROWS_WITH(g.emplace([](int) {}, external), Catch::Contains("another graph") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(g.emplace([](int) {}, heist::task<int>{}), heist::graph_error);
  CHECK(g.empty());
  CHECK(g.edge_count() == 0);
}
