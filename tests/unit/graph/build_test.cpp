// Building, changing and looking at a graph.
#include <heist/heist.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {

std::string dot_of(heist::task_graph const& g) {
  std::ostringstream out;
  g.dot(out);
  return out.str();
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a new graph is empty and has no name", "[graph]") {
  heist::task_graph const g;
  CHECK(g.empty());
  CHECK(g.size() == 0);
  CHECK(g.edge_count() == 0);
  CHECK(g.name().empty());
}

TEST_CASE("emplace adds one task or many, in the order given", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g{"three"};
  std::string order;
  auto one = g.emplace([&] { order += '1'; });
  auto [two, three, four] = g.emplace([&] { order += '2'; }, [&] { order += '3'; }, [&] { order += '4'; });
  one.precede(two);
  two.precede(three);
  three.precede(four);
  CHECK(g.size() == 4);
  CHECK(g.edge_count() == 3);
  CHECK_FALSE(g.empty());
  CHECK(g.name() == "three");
  CHECK(g.name("four").name() == "four");
  ex.run(g).get();
  CHECK(order == "1234");
}

TEST_CASE("emplace takes lvalues, rvalues, functions and callables that only move", "[graph]") {
  static int calls;
  calls = 0;
  struct plain {
    static void function() { ++calls; }
  };
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto lvalue = [] { ++calls; };
  g.emplace(lvalue);
  auto const const_lvalue = [] { ++calls; };
  g.emplace(const_lvalue);
  g.emplace(plain::function);
  g.emplace(&plain::function);
  g.emplace([only = std::make_unique<int>(3)] { calls += *only; });
  g.emplace([n = 0]() mutable { calls += ++n; });
  ex.run(g).get();
  CHECK(calls == 8);
  ex.run(g).get();
  CHECK(calls == 17);  // the mutable one counts on: one callable per task, called again
}

TEST_CASE("callables and values of any size and alignment are kept intact and destroyed once", "[graph]") {
  static int alive;
  alive = 0;
  struct counted {
    counted() { ++alive; }
    counted(counted const&) { ++alive; }
    counted(counted&&) noexcept { ++alive; }
    ~counted() { --alive; }
  };
  struct alignas(256) wide {
    unsigned char bytes[1024] = {};
  };
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  {
    heist::task_graph g;
    bool aligned = true;
    for (int i = 0; i < 100; ++i) {
      wide w;
      w.bytes[1023] = static_cast<unsigned char>(i);
      g.emplace([&aligned, w, i, c = counted{}] {
        aligned = aligned && reinterpret_cast<std::uintptr_t>(&w) % 256 == 0 && w.bytes[1023] == i;
        return c;
      });
      if (i != 0) {
        std::vector<heist::task<>> all;
        g.for_each_task([&](heist::task<> t) { all.push_back(t); });
        all[all.size() - 2].precede(all.back());
      }
    }
    ex.run_n(g, 3).get();
    CHECK(aligned);
    CHECK(alive == 200);  // a capture and a value each
    g.clear();
    CHECK(alive == 0);
    g.emplace([c = counted{}] {});
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("a callable whose copy throws leaves the graph as it was", "[graph]") {
  struct thrower {
    thrower() = default;
    thrower(thrower const&) { throw 7; }
    void operator()() const {}
  };
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  int n = 0;
  g.emplace([&] { ++n; });
  thrower const t;
  CHECK_THROWS_AS(g.emplace(t), int);
  CHECK(g.size() == 1);
  CHECK(g.edge_count() == 0);
  g.emplace([&] { ++n; });
  ex.run(g).get();
  CHECK(n == 2);
}

TEST_CASE("precede and succeed chain, take several tasks, and are two ways to say the same", "[graph]") {
  heist::task_graph g;
  auto [a, b, c, d] = g.emplace([] {}, [] {}, [] {}, [] {});
  a.precede(b, c).name("a");
  d.succeed(b, c).succeed(a).name("d");
  CHECK(a.name() == "a");
  CHECK(a.successor_count() == 3);
  CHECK(a.predecessor_count() == 0);
  CHECK(d.predecessor_count() == 3);
  CHECK(b.successor_count() == 1);
  CHECK(g.edge_count() == 5);
  std::set<std::string> after_a, before_d;
  b.name("b"), c.name("c");
  a.for_each_successor([&](heist::task<> t) { after_a.insert(t.name()); });
  d.for_each_predecessor([&](heist::task<> t) { before_d.insert(t.name()); });
  CHECK(after_a == std::set<std::string>{"b", "c", "d"});
  CHECK(before_d == std::set<std::string>{"a", "b", "c"});
}

TEST_CASE("the same edge twice counts twice and delays nothing", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  int a_ran = 0, b_saw = 0;
  auto a = g.emplace([&] { ++a_ran; });
  auto b = g.emplace([&] { b_saw = a_ran; });
  a.precede(b, b, b);
  CHECK(a.successor_count() == 3);
  ex.run_n(g, 5).get();
  CHECK(b_saw == 5);
  g.erase_edge(a, b);
  CHECK(g.edge_count() == 0);
}

TEST_CASE("a task without a name is called by its number", "[graph]") {
  heist::task_graph g;
  auto a = g.emplace([] {});
  auto b = g.emplace([] {});
  CHECK(a.name() == "#0");
  CHECK(b.name() == "#1");
  b.name("b");
  CHECK(b.name() == "b");
  b.name("c");
  CHECK(b.name() == "c");
}

TEST_CASE("a placeholder does nothing until it gets work, and may get other work", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  std::string order;
  auto p = g.placeholder().name("later");
  auto before = g.emplace([&] { order += 'b'; });
  auto after = g.emplace([&] { order += 'a'; });
  p.succeed(before).precede(after);
  ex.run(g).get();
  CHECK(order == "ba");
  p.work([&] { order += 'p'; });
  ex.run(g).get();
  CHECK(order == "babpa");
  std::size_t id = 99;
  p.work([&](heist::context c) { id = c.worker_id(); });
  ex.run(g).get();
  CHECK(id < 2);
  CHECK(order == "babpaba");
  CHECK(p.name() == "later");
  CHECK(p.predecessor_count() == 1);
  CHECK(p.successor_count() == 1);
}

TEST_CASE("work() keeps the limits of the task", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::limiter one{1};
  heist::task_graph g;
  int unprotected = 0;
  std::vector<heist::task<>> tasks;
  for (int i = 0; i < 50; ++i) tasks.push_back(g.placeholder().limit(one));
  for (auto& t : tasks) t.work([&] { ++unprotected; });
  ex.run_n(g, 20).get();
  CHECK(unprotected == 1000);
  CHECK(one.available() == 1);
}

TEST_CASE("erase removes a task and its edges, and nothing else", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  std::atomic<int> n{0};
  auto [a, b, c, d] = g.emplace([&] { ++n; }, [&] { n += 10; }, [&] { n += 100; }, [&] { n += 1000; });
  a.name("a").precede(b, c);
  d.name("d").succeed(b, c);
  ex.run(g).get();
  CHECK(n == 1111);
  g.erase(b);
  CHECK(g.size() == 3);
  CHECK(g.edge_count() == 2);
  CHECK_FALSE(b.valid());
  CHECK(a.valid());
  CHECK(d.predecessor_count() == 1);
  ex.run(g).get();
  CHECK(n == 1111 + 1101);
  auto e = g.emplace([&] { n += 10000; });
  CHECK_FALSE(b.valid());  // its place is not given to another
  e.succeed(d);
  int seen = 0;
  g.for_each_task([&](heist::task<> t) {
    CHECK(t.valid());
    ++seen;
  });
  CHECK(seen == 4);
  ex.run(g).get();
  CHECK(n == 1111 + 1101 + 11101);
  g.erase(a), g.erase(c), g.erase(d), g.erase(e);
  CHECK(g.empty());
  ex.run(g).get();
}

TEST_CASE("erase_edge removes every edge between the two and keeps the tasks", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  auto [a, b] = g.emplace([] {}, [] {});
  a.precede(b);
  b.precede(a);
  CHECK_THROWS_AS(ex.run(g), heist::graph_error);
  g.erase_edge(b, a);
  CHECK(g.edge_count() == 1);
  ex.run(g).get();  // the cycle is broken, the graph runs
  g.erase_edge(b, a);
  CHECK(g.edge_count() == 1);
}

TEST_CASE("clear removes everything, and the graph may be built anew", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g{"kept"};
  int n = 0;
  heist::limiter one{1};
  heist::task_graph inner;
  inner.emplace([&] { n += 100; });
  for (int round = 0; round < 3; ++round) {
    auto a = g.emplace([&] { ++n; }).name("old");
    auto b = g.compose(inner);
    a.precede(b).limit(one);
    ex.run(g).get();
    g.clear();
    CHECK(g.empty());
    CHECK(g.edge_count() == 0);
    ex.run(g).get();
  }
  CHECK(n == 303);
  CHECK(g.emplace([] {}).name() == "#0");
}

TEST_CASE("handles from before clear() are not valid afterwards, whatever is added", "[graph]") {
  heist::task_graph g;
  auto old = g.emplace([] { return std::string{"old"}; });
  g.clear();
  CHECK_FALSE(old.valid());
  auto unused = g.emplace([] { return 1; });
  CHECK_FALSE(old.valid());
  CHECK_FALSE(old == unused);
  CHECK_THROWS_AS(old.name("x"), heist::graph_error);
  CHECK_THROWS_AS(old.precede(unused), heist::graph_error);
}

TEST_CASE("for_each_task visits every task in order of creation", "[graph]") {
  heist::task_graph g;
  std::vector<heist::task<>> made;
  for (int i = 0; i < 20; ++i) made.push_back(g.emplace([] {}));
  g.erase(made[7]);
  made.erase(made.begin() + 7);
  std::size_t at = 0;
  g.for_each_task([&](heist::task<> t) { CHECK(t == made[at++]); });
  CHECK(at == 19);
}

TEST_CASE("handles are equal if they mean the same task, whatever their value type", "[graph]") {
  heist::task_graph g, other;
  heist::task<int> a = g.emplace([] { return 1; });
  heist::task<int> b = g.emplace([] { return 1; });
  heist::task<> const plain = a;
  CHECK(plain == a);
  CHECK(a == plain);
  CHECK_FALSE(plain == b);
  CHECK_FALSE(other.emplace([] {}) == plain);
  CHECK(heist::task<>{} == heist::task<int>{});
  CHECK_FALSE(heist::task<>{}.valid());
  heist::task<> const from_nothing = heist::task<int>{};
  CHECK_FALSE(from_nothing.valid());
}

TEST_CASE("a moved graph keeps its tasks, and handles go on to mean them", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  int n = 0;
  heist::task_graph a;
  auto t = a.emplace([&] { return ++n; }).name("t");
  heist::task_graph b{std::move(a)};
  CHECK(b.size() == 1);
  CHECK(t.valid());
  t.precede(b.emplace([] {}));
  ex.run(b).get();
  CHECK(t.result() == 1);
  heist::task_graph c;
  c.emplace([&] { n += 100; });
  c = std::move(b);
  CHECK(c.size() == 2);
  ex.run(c).get();
  CHECK(n == 2);
  a = heist::task_graph{"new"};  // one that was moved from can be assigned to
  a.emplace([&] { n += 10; });
  ex.run(a).get();
  CHECK(n == 12);
}

TEST_CASE("dot names every task and edge, and quotes what needs it", "[graph]") {
  heist::task_graph g{"my \"graph\""};
  heist::task_graph inner;
  auto a = g.emplace([] { return 1; }).name("say \"hi\" \\ there");
  auto b = g.emplace([](int) {}, a).name("two\nlines");
  auto c = g.emplace_condition([] { return 0; }).name("choose");
  auto m = g.compose(inner).name("inner");
  auto x = g.emplace_multi_condition([] { return std::vector<int>{}; });
  b.precede(c);
  c.precede(m, b);
  m.precede(x);
  std::string const text = dot_of(g);
  CHECK(contains(text, "digraph \"my \\\"graph\\\"\" {"));
  CHECK(contains(text, "\"say \\\"hi\\\" \\\\ there\""));
  CHECK(contains(text, "\"two\\nlines\""));
  CHECK_FALSE(contains(text, "two\nlines"));
  CHECK(contains(text, "n0 -> n1 [style=bold]"));  // carries a value
  CHECK(contains(text, "n1 -> n2;"));
  CHECK(contains(text, "n2 -> n3 [style=dashed, label=0]"));
  CHECK(contains(text, "n2 -> n1 [style=dashed, label=1]"));
  CHECK(contains(text, "shape=diamond"));
  CHECK(contains(text, "shape=box3d"));
  CHECK(contains(text, "\"#4\""));
  CHECK(text.substr(text.size() - 2) == "}\n");
}

TEST_CASE("dot of an empty graph is a graph, and erased tasks are not in it", "[graph]") {
  heist::task_graph g;
  CHECK(contains(dot_of(g), "digraph \"task graph\" {"));
  auto a = g.emplace([] {}).name("gone");
  auto b = g.emplace([] {}).name("stays");
  a.precede(b);
  g.erase(a);
  CHECK_FALSE(contains(dot_of(g), "gone"));
  CHECK_FALSE(contains(dot_of(g), "->"));
  CHECK(contains(dot_of(g), "stays"));
}

TEST_CASE(
    "a graph that is cleared and built again, larger, smaller, with loops and without, counts and runs as a new one",
    "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, std::chrono::seconds{20}};
  heist::task_graph g;
  for (std::size_t const n : {10u, 3000u, 1u, 200u, 4u, 5000u, 5000u}) {
    std::vector<heist::task<>> tasks;
    std::atomic<std::size_t> ran{0};
    for (std::size_t i = 0; i != n; ++i) {
      tasks.push_back(g.emplace([&] { ++ran; }));
      CHECK(tasks[i].predecessor_count() == 0);  // asked while it is built, after every clear()
      if (i != 0) tasks[i].succeed(tasks[i - 1], tasks[i / 2]);
      if (i > 1) CHECK(tasks[i].predecessor_count() == 2);
    }
    CHECK(tasks[0].successor_count() == (n == 1 ? 0 : 2));
    int rounds = 0;
    if (n == 200) {  // a loop, of which the next graph must know nothing
      auto again = g.emplace_condition([&] { return ++rounds == 3 ? 1 : 0; });
      again.precede(again).succeed(tasks[0]);
      CHECK(again.predecessor_count() == 2);
    }
    ex.run(g).get();
    CHECK(ran == n);
    CHECK(rounds == (n == 200 ? 3 : 0));
    g.clear();
    CHECK(g.empty());
    CHECK_FALSE(tasks[0].valid());
  }
}
