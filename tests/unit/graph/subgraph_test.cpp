// heist::subgraph: runs of given tasks of a graph, and of all tasks that come after them.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/subgraph.hpp>
#include <heist/sync.hpp>
#include <heist/topology.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {

using seconds = std::chrono::seconds;

/// A random graph whose tasks check that the tasks before them have run, and count their runs.
struct checked_graph {
  struct seen {
    std::atomic<int> runs{0};
  };
  heist::task_graph g;
  std::vector<heist::task<>> tasks;
  std::vector<std::vector<std::size_t>> before;
  std::unique_ptr<seen[]> runs;
  std::vector<int> expected;
  std::atomic<int> wrong{0};
  std::vector<char> in_part;
  bool whole = true;

  checked_graph(std::size_t n, std::size_t edges, unsigned seed, bool urgent = false)
      : before(n), runs{new seen[n]}, expected(n), in_part(n) {
    std::mt19937 random{seed};
    for (std::size_t i = 0; i != n; ++i) {
      tasks.push_back(g.emplace([this, i] {
        for (std::size_t b : before[i]) {
          bool const waits = whole || in_part[b] != 0;
          if (waits && runs[b].runs != runs[i].runs + 1 + ahead(b, i)) ++wrong;
        }
        ++runs[i].runs;
      }));
      if (urgent) tasks.back().priority(heist::priority(static_cast<int>(random() % 5)));
    }
    for (std::size_t e = 0; e != edges && n > 1; ++e) {
      std::size_t to = 1 + random() % (n - 1), from = random() % to;
      tasks[from].precede(tasks[to]);
      before[to].push_back(from);
    }
  }
  /// How many runs more `b` had than `i` before this one.
  int ahead(std::size_t b, std::size_t i) const { return expected[b] - expected[i]; }

  std::vector<heist::task<>> choose(std::vector<std::size_t> const& given) {
    std::vector<heist::task<>> handles;
    in_part.assign(tasks.size(), 0);
    for (std::size_t i : given) in_part[i] = 1, handles.push_back(tasks[i]);
    for (std::size_t i = 0; i != tasks.size(); ++i) {
      for (std::size_t b : before[i]) in_part[i] |= in_part[b];
    }
    return handles;
  }
  bool all_ran(int times = 1) {
    bool right = wrong == 0;
    for (std::size_t i = 0; i != tasks.size(); ++i) {
      if (whole || in_part[i] != 0) expected[i] += times;
      right = right && runs[i].runs == expected[i];
    }
    return right;
  }
};

heist::options squads() {
  return {.workers = 4, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1"), .squads = heist::squad_by::l3};
}

template <class Executor, class... Tasks>
heist::graph_run run_part(Executor& ex, Tasks const&... first) {
  heist::subgraph const part{first...};  // need not outlive the run
  return ex.run(part);
}

template <class Executor>
void random_parts(Executor& ex, unsigned seed, bool urgent) {
  std::mt19937 random{seed};
  for (int round = 0; round != 30; ++round) {
    std::size_t const n = 1 + random() % 60;
    checked_graph c{n, random() % (3 * n), seed + static_cast<unsigned>(round), urgent};
    for (int again = 0; again != 6; ++again) {
      std::vector<std::size_t> given;
      for (std::size_t k = 1 + random() % 4; k != 0; --k) given.push_back(random() % n);
      heist::subgraph const part{c.choose(given)};
      c.whole = false;
      ex.run(part).get();
      REQUIRE(c.all_ran());
      c.whole = true;
      ex.run(c.g).get();
      REQUIRE(c.all_ran());
    }
  }
}

}  // namespace

TEST_CASE("subgraph: the given tasks and all that come after them run, in order; then the whole graph", "[graph]") {
  heist_test::watchdog guard{"random parts", seconds{120}};
  for (std::size_t const workers : std::vector<std::size_t>{1, 2, 4, 16}) {
    heist::executor<> ex{workers};
    random_parts(ex, static_cast<unsigned>(workers), false);
    random_parts(ex, static_cast<unsigned>(workers), true);
  }
}

TEST_CASE("subgraph: under policies with memory, which keep their memory of the whole graph", "[graph]") {
  heist_test::watchdog guard{"parts under policies with memory", seconds{120}};
  heist::executor<heist::policy::cab> cab{squads()};
  random_parts(cab, 21, false);
  heist::executor<heist::policy::cats> cats{squads()};
  random_parts(cats, 22, true);
  heist::executor<heist::policy::replay> replay{4};
  random_parts(replay, 23, false);
  heist::executor<heist::policy::automatic> automatic{squads()};
  random_parts(automatic, 24, false);
  heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>> child_first{2};
  random_parts(child_first, 25, false);
  heist::executor_ref any{cab};
  random_parts(any, 26, false);
}

TEST_CASE("subgraph: a given task waits for another one that leads to it", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  std::string order;
  auto a = g.emplace([&] { order += 'a'; }), b = g.emplace([&] { order += 'b'; }), c = g.emplace([&] { order += 'c'; });
  a.precede(b);
  b.precede(c);
  run_part(ex, c, b, c).get();
  CHECK(order == "bc");
  heist::subgraph const last{c};
  ex.run_n(last, 3).get();
  CHECK(order == "bcccc");
  ex.run(g).get();
  CHECK(order == "bccccabc");
}

TEST_CASE("subgraph: values from outside the part are those of an earlier run", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  int input = 1;
  auto read = g.emplace([&] { return input; });
  auto twice = g.emplace([](int x) { return 2 * x; }, read);
  auto sum = g.emplace([](int x, int y) { return x + y; }, read, twice);
  heist::subgraph const changed{twice};
  CHECK_THROWS_AS(ex.run(changed).get(), heist::graph_error);  // no run has left a value
  ex.run(g).get();
  CHECK(sum.result() == 3);
  input = 10;
  ex.run(changed).get();
  CHECK(sum.result() == 3);
  run_part(ex, read).get();
  CHECK(sum.result() == 30);
}

TEST_CASE("subgraph: conditions choose, and loops go around", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  int begun = 0, rounds = 0, left = 3;
  std::atomic<int> ends{0};  // of a task that may run twice at the same time
  auto begin = g.emplace([&] { ++begun; });
  auto body = g.emplace([&] { ++rounds; });
  auto more = g.emplace_condition([&] { return --left > 0 ? 0 : 1; });
  auto end = g.emplace([&] { ++ends; });
  begin.precede(body);
  body.precede(more);
  more.precede(body, end);
  auto const counts = [&] { return std::vector{begun, rounds, ends.load()}; };
  ex.run(g).get();
  CHECK(counts() == std::vector{1, 3, 1});
  left = 1;
  run_part(ex, more).get();
  CHECK(counts() == std::vector{1, 3, 2});
  left = 3;
  run_part(ex, more).get();  // it leads to the task that leads to it
  CHECK(counts() == std::vector{1, 5, 3});
  left = 2;
  run_part(ex, body, end).get();  // the end starts at once, and when the condition chooses it
  CHECK(counts() == std::vector{1, 7, 5});
  left = 2;
  run_part(ex, more, body).get();  // the condition waits for the body
  CHECK(counts() == std::vector{1, 9, 6});
  run_part(ex, end).get();
  left = 1;
  ex.run(g).get();
  CHECK(counts() == std::vector{2, 10, 8});
}

TEST_CASE("subgraph: in a loop a join does not wait for a task that only the join leads to", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  std::atomic<int> a_runs{0}, b_runs{0}, joins{0}, ends{0};
  int left = 1;
  auto entry = g.emplace([] {}), head = g.emplace([] {});
  auto a = g.emplace([&] { ++a_runs; }), b = g.emplace([&] { ++b_runs; }), join = g.emplace([&] { ++joins; });
  auto more = g.emplace_condition([&] { return left-- > 0 ? 0 : 1; });
  auto end = g.emplace([&] { ++ends; });
  entry.precede(head);
  head.precede(a, b);
  join.succeed(a, b);
  join.precede(more);
  more.precede(head, end);
  auto const counts = [&] { return std::vector<int>{a_runs, b_runs, joins, ends}; };
  run_part(ex, a, b).get();
  CHECK(counts() == std::vector{2, 2, 2, 1});
  left = 2;
  run_part(ex, a).get();
  CHECK(counts() == std::vector{5, 4, 5, 2});
  left = 0;
  ex.run(g).get();
  CHECK(counts() == std::vector{6, 5, 6, 3});
}

TEST_CASE("subgraph: a join waits for a task that a condition beside it chooses", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  std::string order;
  auto start = g.emplace([] {});
  auto plain = g.emplace([&] { order += 'p'; });
  auto choice = g.emplace_condition([] { return 0; });
  auto chosen = g.emplace([&] { order += 'c'; });
  auto join = g.emplace([&] { order += 'j'; });
  start.precede(plain, choice);
  choice.precede(chosen);
  join.succeed(plain, chosen);
  for (int i = 0; i != 20; ++i) {
    order.clear();
    heist::executor<>{1}.run(g).get();
    CHECK(order.size() == 3);
    order.clear();
    run_part(ex, choice).get();
    CHECK(order == "cj");
  }
  heist::executor<> one{1};
  order.clear();
  run_part(one, start).get();
  CHECK(order.size() == 3);
  CHECK(order.back() == 'j');
}

TEST_CASE("subgraph: an event outside the part keeps nothing for later runs", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  auto first = g.emplace([] {}), last = g.emplace([] {});
  auto number = g.emplace_event<int>();
  auto signal = g.emplace_event<void>();
  first.precede(number, signal);
  last.succeed(number, signal);
  heist::manual_reset_event goes_on;
  auto inside = g.emplace([&] { goes_on.wait(); });
  for (bool fails : {true, false}) {
    goes_on.reset();
    auto part = run_part(ex, inside);
    if (fails) {
      number.set_exception(std::make_exception_ptr(std::runtime_error{"of the part's run"}));
      signal.set_exception(std::make_exception_ptr(std::runtime_error{"of the part's run"}));
    } else {
      number.set_value(5);
      signal.set_value();
    }
    goes_on.set();
    part.get();
    goes_on.set();
    std::stop_source stop;
    stop.request_stop();
    auto stopped = ex.run(g, heist::with{.stop = stop.get_token()});
    CHECK_THROWS_AS(stopped.get(), heist::stopped_error);
    CHECK_THROWS_AS(number.result(), heist::graph_error);
  }
}

TEST_CASE("subgraph: no tasks, tasks of several graphs, and erased ones are refused", "[graph][bad input]") {
  heist::executor<> ex{2};
  heist::task_graph g, other;
  auto a = g.emplace([] {});
  CHECK_THROWS_AS(heist::subgraph{std::vector<heist::task<>>{}}, heist::graph_error);
  CHECK_THROWS_AS(heist::subgraph{heist::task<>{}}, heist::graph_error);
  auto foreign = other.emplace([] {});
  CHECK_THROWS_AS((heist::subgraph{a, foreign}), heist::graph_error);
  heist::subgraph const part{foreign};
  other.erase(foreign);
  static_cast<void>(other.emplace([] {}));
  CHECK_THROWS_AS(ex.run(part).get(), heist::graph_error);
  CHECK_THROWS_AS(heist::subgraph{foreign}, heist::graph_error);
  other.clear();
  CHECK_THROWS_AS(ex.run(part).get(), heist::graph_error);
  ex.run_n(part, 0).get();
  ex.run(other).get();
}

TEST_CASE("subgraph: failures, stops, callbacks and options are those of any run", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  int outside = 0, after = 0, called = 0;
  bool fails = true;
  auto first = g.emplace([&] { ++outside; });
  auto second = g.emplace([&] {
    if (fails) throw std::runtime_error{"second"};
  });
  auto third = g.emplace([&] { ++after; });
  first.precede(second);
  second.precede(third);
  heist::subgraph const part{second};
  auto run = ex.run(part, [&] { ++called; });
  CHECK_THROWS_AS(run.get(), std::runtime_error);
  CHECK(run.exceptions().size() == 1);
  std::stop_source stop;
  stop.request_stop();
  auto stopped = ex.run(part, heist::with{.stop = stop.get_token()});
  stopped.wait();
  CHECK(stopped.stopped());
  fails = false;
  ex.run(part, heist::with{.priority = heist::priority::high, .name = "part"}, [&] { ++called; }).get();
  int passes = 0;
  ex.run_until(part, [&] { return ++passes == 4; }).get();
  CHECK(std::vector{outside, after, called, passes} == std::vector{0, 5, 2, 4});
  ex.run(g).get();
  CHECK(std::vector{outside, after} == std::vector{1, 6});
}

TEST_CASE("subgraph: runs of parts and of the graph stand in one line", "[graph]") {
  heist_test::watchdog guard{"parts in line", seconds{120}};
  heist::executor<> ex{4}, second{2};
  checked_graph c{40, 80, 7};
  std::atomic<int> inside{0}, most{0};
  auto extra = c.g.emplace([&] {
    if (++inside > 1) ++most;
    --inside;
  });
  heist::subgraph const part{extra};
  std::vector<heist::graph_run> runs;
  for (int i = 0; i != 200; ++i) {
    runs.push_back(i % 3 == 0 ? ex.run(c.g) : ex.run(part));
    if (i % 5 == 0) runs.push_back(second.run_n(part, 3));
  }
  for (auto& r : runs) r.get();
  CHECK(most == 0);
  CHECK(c.all_ran(67));
}

TEST_CASE("subgraph: a predicate may change the graph, and the next pass runs the changed part", "[graph]") {
  heist::executor<> ex{2};
  heist::task_graph g;
  int a_runs = 0, passes = 0;
  std::atomic<int> b_runs{0};  // of tasks that may run at the same time
  auto before = g.emplace([] { FAIL("outside the part"); });
  auto a = g.emplace([&] { ++a_runs; });
  before.precede(a);
  heist::subgraph const part{a};
  ex.run_until(part, [&] {
      a.precede(g.emplace([&] { ++b_runs; }));
      return ++passes == 4;
    }).get();
  CHECK(a_runs == 4);
  CHECK(b_runs == 0 + 1 + 2 + 3);
  passes = 0;
  auto run = ex.run_until(part, [&] {
    if (++passes == 2) g.erase(a);
    return false;
  });
  CHECK_THROWS_AS(run.get(), heist::graph_error);
}

TEST_CASE("subgraph: events, limiters and composed graphs in the part and outside", "[graph]") {
  heist_test::watchdog guard{"events, limiters and composed graphs", seconds{120}};
  heist::executor<> ex{2};
  heist::task_graph g, inner;
  int inner_runs = 0, got = 0;
  static_cast<void>(inner.emplace([&] { ++inner_runs; }));
  heist::limiter permits{2};
  auto outside = g.emplace_event<int>();
  auto event = g.emplace_event<int>();
  auto start = g.emplace([] {});
  start.precede(event);
  auto take = g.emplace([&](int x) { got = x; }, event);
  auto module = g.compose(inner);
  take.precede(module);
  auto acquires = g.emplace([] {});
  acquires.acquire(permits);
  auto releases = g.emplace([] {});
  releases.release(permits);
  auto never = g.emplace([](int) {}, outside);
  module.precede(acquires);
  acquires.precede(releases);
  never.precede(releases);
  auto run = run_part(ex, start);
  event.set_value(5);
  run.get();
  CHECK(std::vector{got, inner_runs} == std::vector{5, 1});
  CHECK(permits.try_acquire(2));
  permits.release(2);

  heist::task_graph taking;
  auto first = taking.emplace([] {});
  auto takes = taking.emplace([] {});
  takes.acquire(permits);
  auto fails = taking.emplace([] { throw std::runtime_error{"fails"}; });
  first.precede(takes);
  takes.precede(fails);
  for (int i = 0; i != 5; ++i) CHECK_THROWS_AS(run_part(ex, takes).get(), std::runtime_error);
  CHECK(permits.try_acquire(2));  // a run that failed has released them
}
