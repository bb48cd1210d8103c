// Priorities of tasks: their promised order, combined with all other features of graphs.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heist/core/sync/request_share.hpp"
#include "support/catch.hpp"
#include "support/random_graph.hpp"
#include "support/spelled.hpp"
#include "support/watchdog.hpp"

using heist::priority;
using heist_test::spelled;
using seconds = std::chrono::seconds;

namespace {

/// Of a random graph: each task runs once a pass, after its predecessors.
template <class Executor>
void check_random_graphs(Executor& ex, std::uint64_t seeds) {
  for (auto const shape : heist_test::all_shapes) {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      heist_test::random_engine random{seed};
      auto const plain = heist_test::make_graph(shape, 150, random);
      INFO(heist_test::name_of(shape) << ", seed " << seed);
      heist::task_graph g;
      std::vector<int> passes(plain.size);  // by tasks; edges order them
      std::atomic<int> wrong{0};
      std::vector<std::vector<std::uint32_t>> from(plain.size);
      for (auto const& [a, b] : plain.edges) from[b].push_back(a);
      std::vector<heist::task<>> tasks;
      for (std::uint32_t t = 0; t != plain.size; ++t) {
        tasks.push_back(g.emplace([&, t] {
          ++passes[t];
          for (std::uint32_t const p : from[t]) wrong += passes[p] != passes[t];
        }));
        tasks.back().priority(priority(static_cast<int>(heist_test::any_of(random, 0, 6)) - 3));
      }
      for (auto const& [a, b] : plain.edges) tasks[a].precede(tasks[b]);
      ex.run_n(g, 5).get();
      CHECK(wrong == 0);
      CHECK(std::count(passes.begin(), passes.end(), 5) == static_cast<std::ptrdiff_t>(plain.size));
    }
  }
}

}  // namespace

TEST_CASE("one worker begins the most urgent of all tasks that are ready", "[graph][priority]") {
  spelled s;
  auto root = s.letter('r');
  auto a = s.letter('a', -1), b = s.letter('b', 1), c = s.letter('c', 7), d = s.letter('d');
  auto e = s.letter('e', 3), f = s.letter('f', -100);
  root.precede(a, b, c, d, f);
  c.precede(e);
  CHECK(s.run() == "rcebdaf");
  CHECK(s.run() == "rcebdaf");
  CHECK(c.priority() == priority(7));
  CHECK(root.priority() == priority::normal);
}

TEST_CASE("among equally urgent tasks the longest way decides, then the order of one worker", "[graph][priority]") {
  spelled s;
  auto root = s.letter('r');
  auto a = s.letter('a', 1), b = s.letter('b', 1), c = s.letter('c', 1), z = s.letter('z', -1), d = s.letter('d', 1);
  root.precede(z, a, b, c);
  c.precede(d);
  CHECK(s.run() == "rcdabz");
}

TEST_CASE("sources begin in the order of their priorities", "[graph][priority]") {
  spelled s;
  s.letter('a', -1);
  s.letter('b');
  s.letter('c', 1);
  CHECK(s.run() == "cba");
}

TEST_CASE("one worker's order is that of a heap, on random graphs with more than it has room for",
          "[graph][priority]") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    heist_test::random_engine random{seed};
    heist::executor ex{1};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    heist::task_graph g;
    std::vector<std::uint32_t> order;
    constexpr std::uint32_t count = 600;
    std::vector<int> how(count);
    std::vector<std::vector<std::uint32_t>> to(count);
    std::vector<std::uint32_t> left(count);
    std::vector<heist::task<>> tasks;
    for (std::uint32_t t = 0; t != count; ++t) {
      how[t] = static_cast<int>(heist_test::any_of(random, 0, 20)) - 10;
      tasks.push_back(g.emplace([&order, t] { order.push_back(t); }));
      tasks.back().priority(priority(how[t]));
      for (int e = 0; t > 300 && e != 2; ++e) {
        std::uint32_t const from = heist_test::any_of(random, 0, t - 1);
        tasks[from].precede(tasks[t]);
        to[from].push_back(t), ++left[t];
      }
    }
    ex.run(g).get();
    REQUIRE(order.size() == count);
    std::vector<bool> ready(count);
    for (std::uint32_t t = 0; t != count; ++t) ready[t] = left[t] == 0;
    for (std::uint32_t const t : order) {
      REQUIRE(ready[t]);
      int best = -128;
      for (std::uint32_t u = 0; u != count; ++u) best = ready[u] ? std::max(best, how[u]) : best;
      REQUIRE(how[t] == best);
      ready[t] = false;
      for (std::uint32_t const u : to[t]) ready[u] = --left[u] == 0 || ready[u];
    }
  }
}

TEST_CASE("two graphs with priorities share their worker by urgency", "[graph][priority]") {
  spelled s;
  heist::task_graph other;
  auto const add = [&](char c, int how) { other.emplace([&s, c] { s.text += c; }).priority(priority(how)); };
  add('1', 1), add('2', -1), add('3', 3);
  auto root = s.g.emplace([&] { s.ex.post([] {}); });
  auto part = s.g.compose(other).priority(priority(9));
  auto a = s.letter('a', 2), b = s.letter('b', 0);
  root.precede(part, a, b);
  CHECK(s.run().size() == 5);
  CHECK(s.text.find('3') < s.text.find('1'));
  CHECK(s.text.find('1') < s.text.find('2'));
  CHECK(s.text.find('a') < s.text.find('b'));
}

TEST_CASE("random graphs with priorities run right under all policies", "[graph][priority][random]") {
  heist::executor free{3};
  heist_test::watchdog timeout_guard{free, seconds{120}};
  check_random_graphs(free, 3);
  heist::executor<heist::policy::cats> cats{
      {.workers = 4, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1"), .squads = heist::squad_by::l3}};
  timeout_guard.watch(cats);
  check_random_graphs(cats, 1);
  heist::executor<heist::policy::replay> replay{2};
  timeout_guard.watch(replay);
  check_random_graphs(replay, 1);
}

TEST_CASE("loops and branches with priorities", "[graph][priority]") {
  for (std::size_t workers : {1, 4}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    heist::task_graph g;
    std::atomic<int> rounds{0}, high{0}, low{0}, wrong{0};
    auto init = g.emplace([&] { rounds = high = low = 0; });
    auto split = g.emplace_multi_condition([] { return std::vector<int>{0, 1, 1}; });
    auto urgent = g.emplace([&] { wrong += workers == 1 && low != 2 * rounds, ++high; }).priority(priority::high);
    auto idle = g.emplace([&] { ++low; }).priority(priority::low);
    auto again = g.emplace_condition([&] { return ++rounds < 20 ? 0 : 1; }).priority(priority(-2));
    auto end = g.emplace([] {}).priority(priority(5));
    init.precede(split);
    split.precede(urgent, idle);
    urgent.precede(again);
    again.precede(split, end);
    for (int run = 0; run != 20; ++run) ex.run(g).get();
    CHECK(rounds == 20);
    CHECK(high == 20);
    CHECK(low == 40);
    CHECK(wrong == 0);
  }
}

TEST_CASE("priorities with limiters, values, parts and tasks that wait", "[graph][priority]") {
  heist::executor ex{3};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::limiter two{2};
  std::atomic<int> inside{0}, most{0}, sum{0};
  heist::task_graph inner;
  for (int i = 0; i != 10; ++i) inner.emplace([&] { ++sum; }).priority(priority(i));
  heist::task_graph g;
  auto first = g.emplace([] { return 5; }).priority(priority::high);
  for (int i = 0; i != 40; ++i) {
    auto user = g.emplace(
        [&](heist::context ctx, int five) {
          int const now = ++inside;
          for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
          }
          ctx.fork_join([&] { sum += five; }, [&] { ex.submit([] {}).get(); });
          --inside;
        },
        first);
    user.priority(priority(i % 5 - 2)).limit(two);
  }
  auto part = g.compose(inner).priority(priority::low);
  first.precede(part);
  for (int run = 0; run != 5; ++run) ex.run(g).get();
  CHECK(sum == 5 * (40 * 5 + 10));
  CHECK(most <= 2);
}

TEST_CASE("a task that throws, and a stop, end a run with priorities", "[graph][priority]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  std::atomic<int> ran{0};
  auto root = g.emplace([] {});
  for (int i = 0; i != 100; ++i) {
    auto t = g.emplace([&, i] {
      ++ran;
      if (i == 50) throw std::runtime_error{"fifty"};
    });
    root.precede(t.priority(priority(i)));
  }
  for (int run = 0; run != 10; ++run) {
    CHECK_THROWS_AS(ex.run(g).get(), std::runtime_error);
    auto handle = ex.run(g);
    handle.request_stop();
    try {
      handle.get();
    } catch (std::runtime_error const&) {
    }
  }
}

TEST_CASE("a priority is the task's, not its place's", "[graph][priority]") {
  spelled s;
  auto a = s.letter('a', 5);
  s.letter('b');
  s.g.erase(a);
  auto c = s.letter('c');  // in the place of a
  CHECK(c.priority() == priority::normal);
  CHECK(s.run() == "cb");
  c.priority(priority::low);
  CHECK(s.run() == "bc");
  c.priority(priority::normal);
  CHECK(s.run() == "cb");
  s.g.clear();
  s.letter('d'), s.letter('e', 1);
  CHECK(s.run() == "ed");
}

TEST_CASE("a priority is not changed while the graph runs", "[graph][priority][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  std::atomic<bool> go{false};
  auto a = g.emplace([&] {
    while (!go) std::this_thread::yield();
  });
  auto b = g.emplace([] {});
  auto run = ex.run(g);
  CHECK_THROWS_WITH(b.priority(priority::high),
                    "cannot give a task a priority while the graph runs; fix it by waiting for the run first.");
  go = true;
  run.get();
  b.priority(priority::high);
  g.erase(a);
  CHECK_THROWS_AS(a.priority(priority::high), heist::graph_error);
}

TEST_CASE("a thief takes the most urgent task of its victim", "[graph][priority]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  // The root's worker begins 9 and stays in it until another has begun; that one begins 8.
  std::atomic<int> begun{0}, second{0};
  auto root = g.emplace([] {});
  for (int i = 0; i != 10; ++i) {
    root.precede(g.emplace([&, i] {
                    int const place = ++begun;
                    if (place == 2) second = i;
                    while (begun < 2) std::this_thread::yield();
                  }).priority(priority(i)));
  }
  for (int run = 0; run != 20; ++run) {
    begun = second = 0;
    ex.run(g).get();
    CHECK(second >= 8);  // 9, if the thief was the first to come
  }
}

TEST_CASE("submitted tasks take any number as a priority", "[priority]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  std::atomic<bool> go{false};
  std::string text;
  auto gate = ex.submit([&] {
    while (!go) std::this_thread::yield();
  });
  auto low = ex.submit(heist::with{.priority = priority(-9)}, [&] { text += 'l'; });
  auto normal = ex.submit([&] { text += 'n'; });
  auto high = ex.submit(heist::with{.priority = priority(9)}, [&] { text += 'h'; });
  go = true;
  gate.get(), low.get(), normal.get(), high.get();
  CHECK(text.find('h') < text.find('n'));
}

TEST_CASE("an urgent run begins before others that wait, with all of its tasks", "[graph][priority]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  std::string text;
  auto const graph_of = [&text](char letter) {
    heist::task_graph g;
    auto first = g.emplace([&text, letter] { text += letter; });
    for (int i = 0; i != 3; ++i) first.precede(g.emplace([&text, letter] { text += letter; }));
    return g;
  };
  auto low = graph_of('l'), normal = graph_of('n'), high = graph_of('h');
  // From a thread outside, while the worker is busy; and by a task of the executor. If the system stops the worker for
  // long, other tasks may have a turn in between, so one of several rounds must show it.
  for (bool inside : {false, true}) {
    bool visible = false;
    for (int round = 0; round != 100 && !visible; ++round) {
      text.clear();
      std::atomic<bool> go{false};
      auto gate = ex.submit([&] {
        while (!go) std::this_thread::yield();
      });
      heist::graph_run runs[3];
      auto const start = [&] {
        runs[0] = ex.run(low, heist::with{.priority = priority::low});
        runs[1] = ex.run(normal);
        runs[2] = ex.run(high, heist::with{.priority = priority(7)});
      };
      if (inside) {
        go = true;
        ex.submit(start).get();
      } else {
        start();
        go = true;
      }
      gate.get();
      for (auto& r : runs) r.get();
      REQUIRE(text.size() == 12);
      // Inside, the caller's worker may have begun the normal one already.
      visible = inside ? text.find("hhhh") != std::string::npos : text.substr(0, 4) == "hhhh";
    }
    CHECK(visible);
  }
}

TEST_CASE("urgent runs in line behind another run of their graph, and of several passes", "[graph][priority]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  int count = 0;
  g.emplace([&] { ++count; });
  std::vector<heist::graph_run> runs;
  for (int i = 0; i != 50; ++i) {
    runs.push_back(ex.run_n(g, 3, heist::with{.priority = priority(i % 3 - 1), .name = "three"}));
  }
  for (auto& r : runs) r.get();
  CHECK(count == 150);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(ex.run(g, heist::with{.priority = priority::high, .stop = stop.get_token()}).get(),
                  heist::stopped_error);
  CHECK(count == 150);
}

TEST_CASE("what urgent runs bring lets other requests in after a while", "[priority]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  std::atomic<bool> normal{false};
  // Each task submits the next, until the request from outside has had its turn.
  std::function<void(heist::context)> next = [&](heist::context c) {
    if (!normal) c.submit(next).wait_for(std::chrono::seconds{0});
  };
  g.emplace([&](heist::context c) { next(c); });
  auto run = ex.run(g, heist::with{.priority = priority::high});
  ex.submit([&] { normal = true; }).get();
  run.get();
  ex.wait_idle();
  CHECK(normal);
}

TEST_CASE("a run has no worker of its own", "[priority][bad input]") {
  heist::executor ex{1};
  heist::task_graph g;
  g.emplace([] {});
  CHECK_THROWS_WITH(
      ex.run(g, heist::with{.worker = 0}),
      "heist::with{.worker = ...} is said of a run, whose tasks run on all workers; fix it by leaving the "
      "worker out, or by a submitted task.");
  ex.run(g).get();
}

TEST_CASE("options of a run that are refused leave nothing behind", "[graph][priority][bad input]") {
  heist::executor ex{2};
  heist::task_graph g;
  g.emplace([] {});
  bool called = false;
  CHECK_THROWS_AS(ex.run(
                      g, [&] { called = true; }, heist::with{.worker = 0}),
                  heist::graph_error);
  ex.run(g).get();
  CHECK(!called);
  std::stop_source stop;
  ex.run(g, heist::with{.priority = priority::high, .stop = stop.get_token()}).get();
}

TEST_CASE("an urgent run keeps other requests waiting until it ends, or for some time", "[priority]") {
  heist::detail::request_share share;
  std::uint64_t now = std::uint64_t{1} << 40;
  CHECK(share.is_due(now));
  share.urgent_begins(now);
  CHECK(!share.is_due(now + 1000));
  share.urgent_ends();
  CHECK(share.is_due(now + 1000));
  share.urgent_begins(now);
  share.urgent_begins(now += std::uint64_t{1} << 25);  // another one does not make it longer
  CHECK(!share.is_due(now));
  CHECK(share.is_due(now + (std::uint64_t{1} << 25)));
  share.nothing_waits(now);
  CHECK(share.is_due(now));
}
