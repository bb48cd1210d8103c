// Graphs that are edited for a long time, while other threads run them, or under policies without memory. Each run
// follows the graph's current state.
#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using seconds = std::chrono::seconds;

namespace {

/// Counts objects that are alive.
struct counted {
  std::shared_ptr<int> all;
};

/// Throws when it is copied into a graph.
struct not_copied {
  not_copied() = default;
  not_copied(not_copied const&) { throw std::runtime_error{"not copied"}; }
  void operator()() const {}
};

}  // namespace

TEST_CASE("a name is refused while the graph runs, and leaves the layout as it is", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::task_graph g;
  std::atomic<bool> started{false}, go{false};
  heist::limiter one{1};
  auto t = g.emplace([&] {
              started = true;
              while (!go) std::this_thread::yield();
            }).name("before");
  auto run = ex.run(g);
  while (!started) std::this_thread::yield();
  std::string text;
  try {
    t.name("another");
  } catch (heist::graph_error const& e) {
    text = e.what();
  }
  CHECK_THROWS_AS(t.limit(one), heist::graph_error);
  CHECK(text == "cannot name a task while the graph runs; fix it by waiting for the run first.");
  CHECK(t.name() == "before");
  go = true;
  run.get();
  bool const was_valid = heist::detail::task_access::graph_of(t)->layout_valid;
  CHECK(was_valid);
  CHECK(t.name("after").name() == "after");
  CHECK(heist::detail::task_access::graph_of(t)->layout_valid);
}

TEST_CASE("memory of erased and replaced tasks is used again", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  heist::limiter one{1};
  auto kept = g.placeholder().name("kept");
  auto all = std::make_shared<int>(0);
  std::size_t chunks = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::uint64_t const a = i, b = i;
    kept.work([i] { static_cast<void>(i); });
    auto t = g.emplace([a, b, c = counted{all}] { static_cast<void>(a + b); }).limit(one);
    t.succeed(kept);
    auto v = g.emplace([] { return std::string{"value"}; }).name("value");
    g.emplace([](std::string const&) {}, v);
    auto last = g.emplace([](std::string const&) {}, v);
    REQUIRE_THROWS_AS(g.erase(v), heist::graph_error);
    g.erase(last);
    g.clear();
    kept = g.placeholder();
    if (i == 1000) break;
  }
  CHECK(all.use_count() == 1);
  auto const* const data = heist::detail::task_access::graph_of(kept);
  for (int i = 0; i < 100'000; ++i) {
    std::uint64_t const a = i, b = i;
    kept.work([i] { static_cast<void>(i); });
    auto t = g.emplace([a, b, c = counted{all}] { static_cast<void>(a + b); }).limit(one).name("short-lived");
    t.succeed(kept);
    REQUIRE(t.predecessor_count() == 1);
    g.erase(t);
    if (i == 1000) chunks = data->nodes.capacity() + data->limits.capacity() + data->free_indices.capacity();
  }
  CHECK(data->nodes.capacity() + data->limits.capacity() + data->free_indices.capacity() == chunks);
  CHECK(data->nodes.size() == 1);
  CHECK(data->names.empty());
  CHECK(all.use_count() == 1);
  ex.run(g).get();
}

TEST_CASE("a handle to an erased task stays invalid when another task takes its place", "[graph][bad input]") {
  heist::task_graph g;
  auto a = g.emplace([] {}), b = g.emplace([] {}), c = g.emplace([] {});
  a.precede(b);
  g.erase(b);
  auto d = g.emplace([] {});  // in the place of b
  CHECK(heist::detail::task_access::index_of(d) == heist::detail::task_access::index_of(b));
  CHECK(d.valid());
  CHECK_FALSE(b.valid());
  CHECK_FALSE(b == d);
  CHECK_THROWS_AS(b.name("gone"), heist::graph_error);
  CHECK_THROWS_AS(b.precede(a), heist::graph_error);
  CHECK(d.predecessor_count() == 0);
  CHECK(d.name() == "#1");
  // At the end the places go, and come again.
  g.erase(c);
  g.erase(d);
  CHECK_FALSE(c.valid());
  auto e = g.emplace([] {}), f = g.emplace([] {});
  CHECK_FALSE(c.valid());
  CHECK_FALSE(d.valid());
  CHECK(e.valid());
  CHECK(f.valid());
  CHECK(g.size() == 3);
  auto before = a;
  g.clear();
  CHECK_FALSE(before.valid());
  a = g.emplace([] {});
  CHECK_FALSE(before.valid());
  // Replaced work is the same task.
  auto same = a;
  a.work([] {});
  CHECK(same.valid());
  int seen = 0;
  g.for_each_task([&](heist::task<> t) { seen += t == a; });
  CHECK(seen == 1);
}

TEST_CASE("edge counts follow edits, once somebody has asked", "[graph]") {
  heist::task_graph g;
  std::vector<heist::task<>> t;
  for (int i = 0; i < 50; ++i) t.push_back(g.emplace([] {}));
  auto const right = [&] {
    bool all = true;
    for (auto const& x : t) {
      std::size_t in = 0, out = 0;
      x.for_each_predecessor([&](heist::task<>) { ++in; });
      x.for_each_successor([&](heist::task<>) { ++out; });
      all = all && x.predecessor_count() == in && x.successor_count() == out;
    }
    return all;
  };
  CHECK(right());
  for (int i = 0; i < 49; ++i) t[i].precede(t[i + 1]), t[i].precede(t[i + 1]), t[0].precede(t[i + 1]);
  CHECK(right());
  g.erase_edge(t[3], t[4]);
  CHECK(right());
  g.erase(t[10]);
  t.erase(t.begin() + 10);
  CHECK(right());
  auto v = g.emplace([] { return 1; });
  auto w = g.emplace([](int) {}, v);
  t.push_back(v);
  t.push_back(w);
  CHECK(right());
  CHECK(w.predecessor_count() == 1);
  while (t.size() > 20) {
    g.erase(t.back());
    t.pop_back();
  }
  CHECK(right());
}

TEST_CASE("asking every task for its number of predecessors is linear", "[graph]") {
  heist::task_graph g;
  heist::task<> last;
  std::vector<heist::task<>> all;
  for (int i = 0; i < 100'000; ++i) {
    heist::task<> const t = g.emplace([] {});
    if (i != 0) t.predecessor_count(), last.precede(t);
    all.push_back(last = t);
  }
  std::size_t edges = 0;
  std::clock_t const start = std::clock();  // the processor's time
  for (auto const& t : all) edges += t.predecessor_count() + t.successor_count();
  CHECK(edges == 2 * 99'999);
  CHECK((std::clock() - start) / CLOCKS_PER_SEC < 5);  // 1.5 minutes if each looks at all edges
}

TEST_CASE("handles are keys", "[graph]") {
  heist::task_graph g;
  std::unordered_map<heist::task<>, int> numbers;
  std::unordered_set<std::size_t> hashes;
  for (int i = 0; i < 1000; ++i) {
    heist::task<> const t = g.emplace([] {});
    numbers[t] = i;
    hashes.insert(std::hash<heist::task<>>{}(t));
  }
  CHECK(numbers.size() == 1000);
  CHECK(hashes.size() > 900);
  auto const v = g.emplace([] { return 1; });
  CHECK(std::hash<heist::task<int>>{}(v) == std::hash<heist::task<>>{}(heist::task<>{v}));
}

TEST_CASE("handles of past runs may be kept, at no cost to later runs", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  int n = 0;
  auto t = g.emplace([&] { ++n; });
  std::vector<heist::graph_run> kept;
  for (int i = 0; i < 20'000; ++i) {
    kept.push_back(ex.run(g));
    if (i % 16 == 0) kept.back().wait();
  }
  for (auto const& run : kept) run.get();
  CHECK(n == 20'000);
  // The graph knows of a few states, and uses them again.
  kept.clear();
  auto const states = heist::detail::task_access::graph_of(t)->states;
  for (int i = 0; i < 100; ++i) ex.run(g).get();
  CHECK(states == heist::detail::task_access::graph_of(t)->states);
}

TEST_CASE("a graph is laid out once, by one thread, while the others sleep", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{120}};
  heist::task_graph g;
  heist::task<> last;
  for (int i = 0; i < 100'000; ++i) {
    heist::task<> const x = g.emplace([] {});
    if (i % 4 != 0) last.precede(x);
    last = x;
  }
  for (int round = 0; round < 3; ++round) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
      threads.emplace_back([&] {
        ++ready;
        while (ready != 4) std::this_thread::yield();
        ex.run(g).get();
      });
    }
    // Tasks that run it park meanwhile.
    std::vector<heist::future<void>> inside;
    for (int k = 0; k < 4; ++k) inside.push_back(ex.submit([&](heist::context ctx) { ctx.run(g).get(); }));
    for (auto& t : threads) t.join();
    for (auto& f : inside) f.get();
    heist::task<> const more = g.emplace([] {});
    last.precede(more);
    last = more;
  }
}

TEST_CASE("everybody who runs a graph that cannot be laid out is told", "[graph][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{120}};
  heist::task_graph g;
  heist::task<> first, last;
  for (int i = 0; i < 50'000; ++i) {
    heist::task<> const x = g.emplace([] {});
    i == 0 ? void(first = x) : void(last.precede(x));
    last = x;
  }
  last.precede(first);
  std::atomic<int> rejected{0}, ready{0};
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([&] {
      ++ready;
      while (ready != 4) std::this_thread::yield();
      try {
        ex.run(g).get();
      } catch (heist::graph_error const& e) {
        rejected += std::string{e.what()}.find("cycle") != std::string::npos;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(rejected == 4);
  g.erase_edge(last, first);
  ex.run(g).get();
}

TEST_CASE("composition: long chains and many diamonds cost what they are", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{120}};
  SECTION("a chain, from the inside") {
    constexpr int depth = 20'000;
    std::vector<heist::task_graph> g(depth);
    int ran = 0;
    g[0].emplace([&] { ++ran; });
    for (int i = 1; i < depth; ++i) g[i].compose(g[i - 1]);
    CHECK_THROWS_AS(g[0].compose(g[depth - 1]), heist::graph_error);
    heist::task_graph outermost = std::move(g.back());
    g.clear();  // the composition alone keeps them
    ex.run(outermost).get();
    CHECK(ran == 1);
  }
  SECTION("a chain, from the outside") {
    constexpr int depth = 20'000;
    std::vector<heist::task_graph> g(depth);
    for (int i = 1; i < depth; ++i) g[i - 1].compose(g[i]);
    CHECK_THROWS_AS(g[depth - 1].compose(g[0]), heist::graph_error);
  }
  SECTION("diamonds behind a condition that never chooses them") {
    std::vector<heist::task_graph> g(60);
    g[0].emplace([] {});
    for (std::size_t i = 1; i < g.size(); ++i) {
      auto c = g[i].emplace_condition([] { return -1; });
      auto a = g[i].compose(g[i - 1]), b = g[i].compose(g[i - 1]);
      c.precede(a, b);
    }
    ex.run(g.back()).get();
    CHECK_THROWS_AS(g[0].compose(g.back()), heist::graph_error);
    CHECK_THROWS_AS(g[30].compose(g[30]), heist::graph_error);
  }
}

TEST_CASE("a task whose callable cannot be copied leaves the graph as it was", "[graph][bad input]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::task_graph g;
  int n = 0;
  auto a = g.emplace([&] { return ++n; });
  not_copied const f;
  CHECK_THROWS_AS(g.emplace(f), std::runtime_error);
  CHECK_THROWS_AS(g.emplace([](int) {}, a).work(f), std::runtime_error);
  CHECK_THROWS_AS(g.emplace([] {}, [] {}, f), std::runtime_error);
  CHECK(g.size() == 2);
  CHECK(g.edge_count() == 1);
  ex.run(g).get();
  CHECK(n == 1);
}

TEST_CASE("a predicate changes its graph between two passes", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  heist::limiter one{1};
  std::atomic<int> ran{0}, wrong{0};
  std::vector<heist::task<>> chain{g.emplace([&] { ++ran; })};
  int passes = 0;
  auto run = ex.run_until(g, [&] {
    ++passes;
    if (ran != passes) ++wrong;  // a task more each time
    ran = 0;
    auto next = g.emplace([&] { ++ran; }).name("one more");
    next.limit(one);
    chain.back().precede(next);
    chain.push_back(next);
    return passes == 100;
  });
  run.get();
  CHECK(wrong == 0);
  CHECK(g.size() == 101);
  // Tasks go, with their limits; an event comes, and goes.
  passes = 0;
  ran = 0;
  ex.run_until(g, [&] {
      ++passes;
      if (ran != 102 - passes) ++wrong;
      ran = 0;
      g.erase(chain.back());
      chain.pop_back();
      return passes == 100;
    }).get();
  CHECK(wrong == 0);
  CHECK(g.size() == 1);
  heist::event<int> number;
  heist::task<> receive, last;
  int seen = 0, stage = 0;
  ex.run_until(g, [&] {
      if (stage % 2 == 0) {
        number = g.emplace_event<int>();
        receive = g.emplace([&] { number.set_value(stage); });
        last = g.emplace([&](int x) { seen += x; }, number);
      } else {
        g.erase(last);
        g.erase(receive);
        g.erase(number);
      }
      return ++stage == 20;
    }).get();
  CHECK(seen == 1 + 3 + 5 + 7 + 9 + 11 + 13 + 15 + 17 + 19);
  CHECK(g.size() == 1);
}

TEST_CASE("a callback changes its graph, and the runs in line are of what it is then", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph g;
  std::atomic<int> ran{0};
  std::atomic<bool> go{false};
  auto a = g.emplace([&] {
    while (!go) std::this_thread::yield();
    ++ran;
  });
  std::vector<heist::graph_run> runs;
  std::vector<heist::task<>> more;
  for (int i = 0; i < 50; ++i) {
    runs.push_back(ex.run_n(g, 2, [&] {
      more.push_back(g.emplace([&] { ++ran; }));
      a.precede(more.back());
    }));
  }
  go = true;
  for (auto& r : runs) r.get();
  CHECK(ran == 50 * 51);  // 2 passes of 1 to 50 tasks
  // A circle fails the runs that meet it, and they alone.
  heist::graph_run cycle, meets, meets_too;
  go = false;
  cycle = ex.run(g, [&] { more[0].precede(a); });
  meets = ex.run(g);
  meets_too = ex.run(g, [&] { g.erase_edge(more[0], a); });
  auto well = ex.run(g);
  ran = 0;
  go = true;
  cycle.get();
  CHECK_THROWS_WITH(meets.get(), Catch::Contains("cycle"));
  CHECK_THROWS_WITH(meets_too.get(), Catch::Contains("cycle"));
  well.get();
  CHECK(ran == 2 * 51);
  // It may start the next run itself, before and after a change; and a stop comes at any time.
  std::atomic<int> left{200};
  std::function<void()> again = [&] {
    if (left-- == 0) return;
    if (left % 2 == 0) (void)ex.run(g, [&] { again(); });
    g.erase(more.back());
    more.back() = g.emplace([&] { ++ran; });
    a.precede(more.back());
    if (left % 2 != 0) (void)ex.run(g, [&] { again(); });
  };
  (void)ex.run(g, [&] { again(); });
  ex.wait_idle();
  CHECK(left == -1);
  for (int i = 0; i < 50; ++i) {
    auto r = ex.run_until(g, [&] {
      g.erase_edge(a, more[0]);
      a.precede(more[0]);
      return false;
    });
    r.request_stop();
    CHECK_THROWS_AS(r.get(), heist::stopped_error);
  }
}

TEST_CASE("under a policy with memory a change between passes is refused in a sentence", "[graph][bad input]") {
  heist::executor<heist::policy::cab> ex{2};
  heist_test::watchdog timeout_guard{"refused", seconds{30}, [&] { return ex.state_text(); }};
  heist::task_graph g;
  g.emplace([] {});
  CHECK_THROWS_WITH(ex.run_n(g, 2, [&] { g.emplace([] {}); }).get(), Catch::Contains("policy with memory"));
  CHECK(g.size() == 1);
}

TEST_CASE("edits: another thread starts a run while a callback's run ends", "[graph]") {
  heist::executor<> ex{std::size_t{1}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}};
  int const rounds = heist_test::slow ? 2000 : 10000;
  heist::limiter one{1};
  heist::task_graph g;
  g.emplace([] {}).limit(one);
  auto last = g.emplace([] {});
  std::atomic<int> changed{0}, ran{0};
  std::thread other{[&] {
    for (int k = 1; k <= rounds; ++k) {
      while (changed < k) std::this_thread::yield();
      ex.run(g).get();
      ran = k;
    }
  }};
  for (int k = 1; k <= rounds; ++k) {
    ex.run(g, [&, k] {
        g.erase(last);
        last = g.emplace([] {});
        last.limit(one);
        changed = k;  // the other thread's run begins while this one ends
      }).get();
    while (ran < k) std::this_thread::yield();
  }
  other.join();
  CHECK(g.size() == 2);
  CHECK(one.available() == 1);
}

TEST_CASE("edits: policy::automatic refuses changes between passes, whatever it tries", "[graph]") {
  heist::executor<heist::policy::automatic> ex{std::size_t{2}};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}};
  heist::task_graph g;
  for (int i = 0; i != 100; ++i) g.emplace([] {});
  int rejected = 0;
  for (int k = 0; k != 200; ++k) {
    ex.run(g, [&] {
        try {
          g.emplace([] {});
        } catch (heist::graph_error const&) {
          ++rejected;
        }
      }).get();
  }
  CHECK(rejected == 200);
  CHECK(g.size() == 100);
}
