// Graphs with memory, compared with a sequential program: each task runs once and after its predecessors. There are
// runs under every policy with memory, edits between runs, and runs that fail or are stopped. Strict runs follow the
// recorded workers and their order.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/observe.hpp>
#include <heist/topology.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/graph/graph_data.hpp"
#include "heist/locality/history/placement_history.hpp"
#include "support/catch.hpp"
#include "support/random_graph.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/told_counters.hpp"

using heist::replay_mode;
using heist_test::random_engine;
using seconds = std::chrono::seconds;

namespace {

heist::options four_squads() {
  return {.workers = 8, .machine = heist::topology::parse("package:4 l3:1 core:2 pu:1"), .squads = heist::squad_by::l3};
}

/// A graph whose tasks note when they ran, and where.
struct noting {
  heist::task_graph g;
  std::vector<heist::task<>> tasks;
  heist_test::plain_graph shape;
  std::vector<std::atomic<std::uint32_t>> ran;
  std::vector<std::uint32_t> when, where;
  std::atomic<std::uint32_t> clock{0};
  std::atomic<std::uint32_t> thrower{~0u};  ///< this one throws

  explicit noting(heist_test::plain_graph of)
      : shape{std::move(of)}, ran(shape.size), when(shape.size), where(shape.size) {
    for (std::uint32_t i = 0; i != shape.size; ++i) {
      tasks.push_back(g.emplace([this, i](auto ctx) {
        where[i] = static_cast<std::uint32_t>(ctx.worker_id());
        when[i] = ++clock;
        ++ran[i];
        if (thrower == i) throw std::runtime_error{"asked to"};
      }));
    }
    for (auto [from, to] : shape.edges) tasks[from].precede(tasks[to]);
  }

  void reset() {
    for (auto& r : ran) r = 0;
    clock = 0;
  }
  /// After a run that did not fail.
  bool right() const {
    bool fine = true;
    for (auto const& r : ran) fine = fine && r == 1;
    for (auto [from, to] : shape.edges) fine = fine && when[from] < when[to];
    return fine;
  }
  /// The tasks of each worker, in the order in which it began them.
  std::vector<std::vector<std::uint32_t>> lists(std::size_t workers) const {
    std::vector<std::vector<std::uint32_t>> all(workers);
    for (std::uint32_t i = 0; i != shape.size; ++i) all[where[i]].push_back(i);
    for (auto& list : all) std::sort(list.begin(), list.end(), [&](auto a, auto b) { return when[a] < when[b]; });
    return all;
  }
};

noting& random_noting(std::unique_ptr<noting>& at, std::uint64_t seed, std::uint32_t size = 60) {
  random_engine random{seed};
  auto const shape = heist_test::all_shapes[seed % heist_test::all_shapes.size()];
  at = std::make_unique<noting>(heist_test::make_graph(shape, size, random));
  return *at;
}

}  // namespace

TEST_CASE("squads: runs are right, and later ones bring tasks back") {
  heist::executor<heist::policy::cats> ex{four_squads()};
  heist_test::watchdog const guard{ex, seconds{60}};
  std::unique_ptr<noting> at;
  for (std::uint64_t seed = 0; seed != 28; ++seed) {
    noting& n = random_noting(at, seed);
    for (int run = 0; run != 3; ++run) {
      n.reset();
      ex.run(n.g).get();
      REQUIRE(n.right());
      auto const known = n.g.memory();
      REQUIRE(known.tasks() == n.g.size());
      for (std::size_t i = 0; i != n.tasks.size(); ++i) {
        CHECK(known.worker(n.tasks[i]) == n.where[i]);
        CHECK(known.squad(n.tasks[i]) == n.where[i] / 2);
      }
    }
  }
}

TEST_CASE("squads: what is wished is where it begins, and the rest follows") {
  heist::executor<heist::policy::cab> ex{four_squads()};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  std::vector<heist::task<>> all;
  for (int i = 0; i != 8; ++i) all.push_back(g.emplace([] {}).on_squad(static_cast<std::size_t>(i) / 2));
  ex.run(g).get();
  CHECK(g.explain().find("8 where they are wished") != std::string::npos);
  CHECK(g.memory().tasks() == 8);
  all[0].on_squad(4);
  CHECK_THROWS_AS(ex.run(g), heist::graph_error);
  all[0].on_squad(3).on_worker(8);
  CHECK_THROWS_AS(ex.run(g), heist::graph_error);
  all[0].on_worker(7);
  CHECK_NOTHROW(ex.run(g).get());
  CHECK_THROWS_AS(all[0].on_worker(std::size_t{1} << 40), heist::graph_error);
}

TEST_CASE("replay: strict runs are on the recorded workers, ordered ones in their order") {
  heist::executor<heist::policy::replay> ex{3};
  heist_test::watchdog const guard{ex, seconds{60}};
  std::unique_ptr<noting> at;
  for (std::uint64_t seed = 0; seed != 28; ++seed) {
    noting& n = random_noting(at, seed);
    if (n.g.empty()) continue;
    ex.run(n.g).get();
    REQUIRE(n.right());
    auto const where = n.where;
    auto const lists = n.lists(3);
    auto const kept = heist::graph_memory::from_json(n.g.memory().to_json());
    REQUIRE(kept == n.g.memory());
    for (replay_mode const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed}) {
      n.g.follow(kept, mode);
      for (int run = 0; run != 3; ++run) {
        n.reset();
        ex.run(n.g).get();
        REQUIRE(n.right());
        if (mode != replay_mode::relaxed) REQUIRE(n.where == where);
        if (mode == replay_mode::strict_ordered) REQUIRE(n.lists(3) == lists);
      }
    }
    n.reset();
    n.g.follow(kept, replay_mode::strict_ordered);
    ex.run_n(n.g, 4).get();
    for (auto const& r : n.ran) REQUIRE(r == 4);
    CHECK(n.lists(3) == lists);
    n.g.forget();
    n.reset();
    ex.run(n.g).get();
    REQUIRE(n.right());
  }
}

TEST_CASE("replay: runs that throw or are stopped end, and what they did can be followed") {
  heist::executor<heist::policy::replay> ex{3};
  heist_test::watchdog const guard{ex, seconds{60}};
  std::unique_ptr<noting> at;
  for (std::uint64_t seed = 3; seed != 28; ++seed) {
    noting& n = random_noting(at, seed);
    if (n.g.empty()) continue;
    n.thrower = static_cast<std::uint32_t>(seed * 7 % n.shape.size);
    CHECK_THROWS_AS(ex.run(n.g).get(), std::runtime_error);
    auto const failed = n.g.memory();
    n.g.follow(failed, replay_mode::strict_ordered);
    n.reset();
    CHECK_THROWS_AS(ex.run(n.g).get(), std::runtime_error);
    n.thrower = ~0u;
    n.reset();
    ex.run(n.g).get();
    REQUIRE(n.right());
    for (std::size_t i = 0; i != n.tasks.size(); ++i) REQUIRE(failed.worker(n.tasks[i]) == n.where[i]);
    auto stopped = ex.run(n.g);
    stopped.request_stop();
    stopped.wait();
  }
}

TEST_CASE("edits keep the memory of what stays") {
  heist::executor<heist::policy::cats> cats{four_squads()};
  heist::executor<heist::policy::replay> replay{2};
  heist::executor plain{2};
  heist_test::watchdog const guard{cats, seconds{60}};
  heist::task_graph g;
  std::vector<heist::task<>> tasks;
  std::atomic<int> ran{0};
  auto const add = [&] { tasks.push_back(g.emplace([&ran] { ++ran; })); };
  random_engine random{7};
  for (int i = 0; i != 30; ++i) add();
  for (int round = 0; round != 60; ++round) {
    std::size_t const before = tasks.size();
    heist::graph_memory const then = g.memory();
    std::size_t const known = then.tasks();
    for (int i = 0; i != 5; ++i) {
      add();
      auto const from = heist_test::any_of(random, 0, static_cast<std::uint32_t>(tasks.size() - 2));
      tasks[from].precede(tasks.back());
    }
    CHECK(g.memory().tasks() == (known == 0 ? 0 : tasks.size()));
    if (known != 0) {
      CHECK(g.memory().worker(tasks.front()) != heist::graph_memory::no_place);
      CHECK(g.memory().worker(tasks[before]) == heist::graph_memory::no_place);
      CHECK_THROWS_AS(then.worker(tasks.front()), heist::graph_error);
      CHECK_THROWS_AS(g.follow(then, replay_mode::relaxed), heist::graph_error);
    }
    for (int i = 0; i != 5 && round % 3 != 0; ++i) {
      auto const victim = heist_test::any_of(random, 1, static_cast<std::uint32_t>(tasks.size() - 1));
      g.erase(tasks[victim]);
      tasks.erase(tasks.begin() + victim);
    }
    ran = 0;
    if (round % 5 == 0) plain.run(g).get();
    if (round % 5 == 1 || round % 5 == 4) replay.run(g).get();
    if (round % 5 == 2 || round % 5 == 3) cats.run(g).get();
    CHECK(ran == static_cast<int>(tasks.size()));
  }
}

TEST_CASE("conditions, composition, limiters and events go to their workers, too") {
  heist::executor<heist::policy::replay> ex{3};
  heist::executor<heist::policy::cats> cats{four_squads()};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::limiter one{1};
  heist::task_graph inner, g;
  std::atomic<int> inside{0}, loops{0}, held{0};
  std::vector<std::size_t> where(8);
  for (int i = 0; i != 20; ++i) inner.emplace([&] { ++inside; });
  auto begin = g.emplace([&] { loops = 0; });
  auto body = g.emplace([&](auto ctx) { where[0] = ctx.worker_id(); });
  auto again = g.emplace_condition([&] { return ++loops < 5 ? 0 : 1; });
  auto const part = g.compose(inner);
  auto const came = g.emplace_event<int>();
  auto const last = g.emplace([&](int v) { held += v; }, came);
  begin.precede(body);
  body.precede(again);
  again.precede(body, part);
  std::vector<heist::task<>> limited;
  for (std::size_t i = 1; i != 8; ++i) {
    limited.push_back(g.emplace([&, i](auto ctx) {
      where[i] = ctx.worker_id();
      CHECK(++held == 1);
      --held;
    }));
    limited.back().limit(one);
    limited.back().precede(last);
  }
  auto const once = [&](auto& on) {
    inside = held = 0;
    auto run = on.run(g);
    came.set_value(3);
    run.get();
    CHECK(loops == 5);
    CHECK(inside == 20);
    CHECK(held == 3);
  };
  once(ex);
  auto const kept = g.memory();
  auto const then = where;
  for (replay_mode const mode : {replay_mode::strict_ordered, replay_mode::strict_unordered, replay_mode::relaxed}) {
    g.follow(kept, mode);
    for (int i = 0; i != 20; ++i) {
      once(ex);
      if (mode != replay_mode::relaxed) CHECK(where == then);
    }
    once(cats);
  }
  g.follow(kept, replay_mode::strict_ordered);
  once(ex);
  CHECK(g.explain().find("conditions choose") != std::string::npos);
}

namespace {

/// A loop that makes `extra` ready in each turn, often before its last time has run.
struct readying_loop {
  explicit readying_loop(int times, bool limited, bool urgent) {
    auto begin = g.emplace([] {});
    auto body = g.emplace([] {});
    auto again = g.emplace_condition([this, times] { return ++looped < times ? 0 : 1; });
    auto extra = g.emplace([this] { ++ran; });
    auto last = g.emplace([this] { ++after; });
    if (limited) extra.limit(one);
    if (urgent) body.priority(heist::priority::high);
    begin.precede(body);
    body.precede(again, extra);
    again.precede(body);
    extra.precede(last);
  }
  bool right(int times) {
    return ran.exchange(0) == times && after.exchange(0) == times && looped.exchange(0) == times;
  }

  heist::task_graph g;
  heist::limiter one{1};
  std::atomic<int> looped{0}, ran{0}, after{0};
};

template <class Policy>
void ready_again(heist::options const& how) {
  heist::executor<Policy> ex{how};
  heist_test::watchdog const guard{ex, seconds{60}};
  for (int kind = 0; kind != 8; ++kind) {
    readying_loop loop{6, (kind & 1) != 0, (kind & 2) != 0};
    heist::task_graph outer;
    if ((kind & 4) != 0) outer.compose(loop.g);
    heist::task_graph& g = (kind & 4) != 0 ? outer : loop.g;
    for (int round = 0; round != 60; ++round) {
      if (round % 2 == 0) {
        ex.run(g).get();
      } else {
        ex.invoke([&](heist::context c) { c.run(g).get(); });
      }
      REQUIRE(loop.right(6));
      if constexpr (std::is_same_v<Policy, heist::policy::replay>) {
        auto const mode = round == 20 ? replay_mode::relaxed : replay_mode::strict_ordered;
        if (round == 20 || round == 40) loop.g.follow(loop.g.memory(), mode);
      }
    }
  }
}

}  // namespace

TEST_CASE("a loop that makes a task ready before its last time has run: each policy runs it as often as it is ready") {
  heist::options const two{
      .workers = 2, .machine = heist::topology::parse("package:2 l3:1 core:1 pu:1"), .squads = heist::squad_by::l3};
  ready_again<heist::policy::random>(two);
  ready_again<heist::policy::cab>(two);
  ready_again<heist::policy::cab>(four_squads());
  ready_again<heist::policy::cats>(two);
  ready_again<heist::policy::replay>(two);
  ready_again<heist::policy::automatic>(two);
}

TEST_CASE("replay: an order with limits, waits and graphs inside is kept") {
  heist::executor<heist::policy::replay> ex{3};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::limiter one{1};
  heist::task_graph inner;
  for (int i = 0; i != 5; ++i) inner.emplace([] {});
  heist::task_graph g;
  std::vector<std::size_t> where(40);
  std::vector<heist::task<>> tasks;
  for (std::size_t i = 0; i != 40; ++i) {
    if (i % 8 == 5) {
      tasks.push_back(g.compose(inner));
    } else {
      tasks.push_back(g.emplace([&, i](auto ctx) {
        where[i] = ctx.worker_id();
        if (i % 8 == 3) ex.submit([] {}).get();  // the fiber parks
      }));
      if (i % 8 == 1) tasks.back().limit(one);
    }
    if (i >= 3) tasks[i - 3].precede(tasks[i]);
  }
  ex.run(g).get();
  auto const then = where;
  auto const kept = g.memory();
  g.follow(kept, replay_mode::strict_ordered);
  for (int i = 0; i != 50; ++i) {
    ex.run(g).get();
    CHECK(where == then);
  }
  CHECK(g.explain().find("in the order there") != std::string::npos);
}

TEST_CASE("policies take turns: what a graph follows stays, and its memory can be written and read") {
  heist::executor<> random_ones{std::size_t{3}};
  heist::executor<heist::policy::cab> cab{four_squads()};
  heist::executor<heist::policy::cats> cats{
      {.workers = 2, .machine = heist::topology::parse("package:2 l3:1 core:1 pu:1"), .squads = heist::squad_by::l3}};
  heist::executor<heist::policy::replay> replay{3}, wider{5};
  heist::executor<heist::policy::automatic> automatic{four_squads()};
  heist_test::watchdog const guard{replay, seconds{120}};
  std::unique_ptr<noting> at;
  for (std::uint64_t seed = 1; seed != 13; ++seed) {
    noting& n = random_noting(at, seed);
    if (n.g.empty()) continue;
    n.tasks.front().name("a \"name\",\n\x01 and \\ more");
    random_engine random{seed};
    bool const loops = seed % 3 == 0;
    if (loops) n.g.emplace_condition([] { return -1; }).name("chooses nobody");
    replay.run(n.g).get();
    auto const followed = n.g.memory();
    n.g.follow(followed, replay_mode::strict_unordered);
    for (int step = 0; step != 40; ++step) {
      n.reset();
      std::uint32_t const who = heist_test::any_of(random, 0, 7);
      bool const cut = heist_test::any_of(random, 0, 4) == 0;
      heist::graph_run run = who == 0   ? random_ones.run(n.g)
                             : who == 1 ? cab.run(n.g)
                             : who == 2 ? cats.run(n.g)
                             : who == 3 ? wider.run(n.g)
                             : who <= 5 ? automatic.run(n.g)
                                        : replay.run(n.g);
      if (cut) run.request_stop();
      run.wait();
      if (!cut && (who == 3 || who >= 6)) {
        bool fine = true;
        for (std::size_t i = 0; i != n.tasks.size(); ++i) fine = fine && followed.worker(n.tasks[i]) == n.where[i];
        CHECK(fine);
      }
      auto const memory = n.g.memory();
      CHECK(heist::graph_memory::from_json(memory.to_json()) == memory);
      if (step == 20) {
        automatic.run(n.g).get();
        n.g.follow(followed, replay_mode::strict_unordered);  // told while another policy had the graph
      }
    }
  }
}

TEST_CASE("replay: a run is repeated by one worker, in the order in which its tasks ended") {
  heist::executor<heist::policy::replay> ex{3};
  heist_test::watchdog const guard{ex, seconds{60}};
  std::unique_ptr<noting> at;
  for (std::uint64_t seed = 1; seed != 15; ++seed) {
    noting& n = random_noting(at, seed);
    ex.run(n.g).get();
    auto const then = n.g.memory().on_one_worker();
    n.g.follow(then, replay_mode::strict_ordered);
    n.reset();
    ex.run(n.g).get();
    REQUIRE(n.right());
    if (n.g.explain().find("in the order there") == std::string::npos) continue;  // two tasks ended in one nanosecond
    for (std::size_t i = 0; i != n.tasks.size(); ++i) {
      REQUIRE(n.where[i] == 0);
      REQUIRE(n.when[i] == then.place(n.tasks[i]) + 1);
    }
  }
}

TEST_CASE("placement by hand") {
  heist::executor<heist::policy::replay> ex{four_squads()};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  std::vector<std::size_t> where(32);
  for (std::size_t i = 0; i != 32; ++i) {
    auto t = g.emplace([&, i](auto ctx) { where[i] = ctx.worker_id(); });
    i % 2 == 0 ? t.on_worker(i % 8) : t.on_squad(i % 4);
  }
  g.follow_placement();
  for (int run = 0; run != 20; ++run) {
    ex.run(g).get();
    for (std::size_t i = 0; i != 32; ++i) CHECK((i % 2 == 0 ? where[i] == i % 8 : where[i] / 2 == i % 4));
  }
}

TEST_CASE("a memory that does not fit is refused, and why") {
  heist::executor<heist::policy::replay> ex{3}, fewer{2};
  heist::task_graph g, same, other;
  for (heist::task_graph* to : {&g, &same, &other}) {
    std::vector<heist::task<>> t;
    for (int i = 0; i != 6; ++i) t.push_back(to->emplace([] {}).name("task <" + std::to_string(i) + ">"));
    t[0].precede(t[1], t[2]);
    to == &other ? t[3].precede(t[4]) : t[3].precede(t[5]);
  }
  CHECK(g.memory().tasks() == 0);
  CHECK_THROWS_AS(g.follow(g.memory(), replay_mode::relaxed), heist::graph_error);
  ex.run(g).get();
  auto const kept = g.memory();
  CHECK_NOTHROW(same.follow(kept, replay_mode::strict_ordered));
  CHECK_NOTHROW(ex.run(same).get());
  CHECK_THROWS_AS(fewer.run(same), heist::graph_error);
  same.follow(kept, replay_mode::relaxed);
  CHECK_NOTHROW(fewer.run(same).get());
  CHECK_THROWS_AS(other.follow(kept, replay_mode::strict_ordered), heist::graph_error);
  g.follow(kept, replay_mode::strict_unordered);
  g.emplace([] {});
  CHECK_THROWS_AS(ex.run(g), heist::graph_error);
  g.forget();
  CHECK_NOTHROW(ex.run(g).get());

  std::string const text = kept.to_json();
  for (std::size_t n = 0; n + 2 < text.size(); ++n)
    CHECK_THROWS_AS(heist::graph_memory::from_json(text.substr(0, n)), heist::graph_error);
  auto const with = [&](std::string const& what, std::string const& instead) {
    std::string changed = text;
    changed.replace(changed.find(what), what.size(), instead);
    return changed;
  };
  CHECK_THROWS_AS(heist::graph_memory::from_json(with("\"version\": 1", "\"version\": 2")), heist::graph_error);
  CHECK_THROWS_AS(heist::graph_memory::from_json(with("\"workers\": 3", "\"workers\": 0")), heist::graph_error);
  CHECK_THROWS_AS(heist::graph_memory::from_json(with("graph memory", "steal tree")), heist::graph_error);

  std::ostringstream drawing;
  kept.write_svg(drawing);
  CHECK(drawing.str().find("task &lt;3&gt;") != std::string::npos);
  CHECK(drawing.str().find("worker 2") != std::string::npos);
}

TEST_CASE("an order that no run can keep is not followed, and the note says so") {
  heist::executor<heist::policy::replay> ex{2};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  auto a = g.emplace([] {}), b = g.emplace([] {});
  a.on_worker(0).precede(b.on_worker(0));
  g.follow_placement();
  ex.run(g).get();
  std::string text = g.memory().to_json();
  auto const first = text.find("[0, 0, "), second = text.find("[0, 1, ");
  REQUIRE(first != std::string::npos);
  REQUIRE(second != std::string::npos);
  text.replace(first, 7, "[0, 7, ");
  g.follow(heist::graph_memory::from_json(text), replay_mode::strict_ordered);
  ex.run(g).get();
  CHECK(g.explain().find("in no given order") != std::string::npos);
}

TEST_CASE("runs of one graph by executors with and without memory take turns") {
  heist::executor<heist::policy::replay> replay{2};
  heist::executor<heist::policy::cats> cats{four_squads()};
  heist::executor plain{2};
  heist_test::watchdog const guard{cats, seconds{60}};
  std::unique_ptr<noting> at;
  noting& n = random_noting(at, 9, 200);
  std::vector<heist::graph_run> runs;
  for (int i = 0; i != 30; ++i) {
    runs.push_back(i % 3 == 0 ? plain.run(n.g) : i % 3 == 1 ? replay.run(n.g) : cats.run(n.g));
    if (i % 7 == 0) runs.back().request_stop();
  }
  for (auto& r : runs) r.wait();
  n.reset();
  plain.run(n.g).get();
  CHECK(n.right());
}

TEST_CASE("recall: a graph's first run with memory may be started while one without it is in progress", "[recall]") {
  for (int round = 0; round != 20; ++round) {
    heist::executor<> plain{2};
    heist::executor<heist::policy::cab> with_memory{four_squads()};
    heist::task_graph g;
    std::atomic<int> ran{0};
    std::atomic<bool> begun{false}, open{false};
    auto first = g.emplace([&] {
      begun = true;
      while (!open) std::this_thread::yield();
      ++ran;
    });
    for (int i = 0; i != 20; ++i) first.precede(g.emplace([&] { ++ran; }));
    auto one = plain.run(g);
    while (!begun) std::this_thread::yield();
    open = true;
    auto other = with_memory.run(g);
    one.get();
    other.get();
    REQUIRE(ran == 42);
  }
}

namespace {

/// Replaces the measured times of the last pass by `times`, in nanoseconds for each task.
void pretend_times(heist::task_graph const& g, heist::detail::graph_data& data,
                   std::vector<std::int64_t> const& times) {
  auto& known = static_cast<heist::detail::placement_history&>(*data.recall());
  auto& tasks = const_cast<std::vector<heist::detail::known_task>&>(known.tasks());
  REQUIRE(tasks.size() == g.size());
  for (auto& t : tasks) {
    t.past.begin = 0;
    t.past.end = times[t.index];
  }
}

}  // namespace

TEST_CASE("order: the longest way to the end is by number of tasks at first, and by time when that is known") {
  heist::executor<heist::policy::cats> ex{1};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  std::string order;
  auto root = g.emplace([] {});
  auto slow = g.emplace([&] { order += 's'; });
  auto first = g.emplace([&] { order += 'f'; }), then = g.emplace([&] { order += 't'; });
  root.precede(slow, first);
  first.precede(then);
  ex.run(g).get();
  CHECK(order == "fts");
  pretend_times(g, *heist::detail::task_access::graph_of(root), {1, 1000, 10, 10});
  order.clear();
  ex.run(g).get();
  CHECK(order == "sft");

  // Again when there have been twice as many passes, by the times then.
  pretend_times(g, *heist::detail::task_access::graph_of(root), {1, 10, 10, 10});
  order.clear();
  ex.run(g).get();
  CHECK(order == "sft");
  ex.run(g).get();
  pretend_times(g, *heist::detail::task_access::graph_of(root), {1, 10, 10, 10});
  order.clear();
  ex.run(g).get();
  CHECK(order == "fts");
}

TEST_CASE("order: neighbours that take about as long as each other stay together, again and again") {
  heist::executor<heist::policy::cats> ex{1};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  std::string order;
  std::vector<heist::task<>> all;
  auto start = g.emplace([] {});
  for (char const c : {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}) all.push_back(g.emplace([&order, c] { order += c; }));
  ex.run(g).get();
  SECTION("tasks that nothing precedes") {}
  SECTION("successors of a task") {
    for (auto& t : all) start.precede(t);
    pretend_times(g, *heist::detail::task_access::graph_of(start), {1, 10, 10, 10, 10, 10, 10, 10, 10});
    ex.run(g).get();
  }
  for (int pass = 0; pass != 9; ++pass) {
    std::vector<std::int64_t> times{1, 10, 12, 9, 14, 11, 13, 10, 12};
    times[static_cast<std::size_t>(pass % 8 + 1)] = 900;  // one was disturbed
    pretend_times(g, *heist::detail::task_access::graph_of(start), times);
    order.clear();
    ex.run(g).get();
    INFO(pass);
    auto const first = order.front();
    std::string others = "abcdefgh";
    others.erase(others.find(first), 1);
    CHECK(order == first + others);
  }
}

TEST_CASE("a memory that stands aside leaves tasks alone that were erased since the last run") {
  heist::executor<heist::policy::cats> ex{1};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  int ran = 0;
  std::vector<heist::task<>> all;
  for (int i = 0; i != 8; ++i) all.push_back(g.emplace([&ran] { ++ran; }));
  ex.run(g).get();
  heist::detail::graph_data& data = *heist::detail::task_access::graph_of(all[0]);
  SECTION("erased") {
    g.erase(all[3]);  // ASan reports a later read of this task
  }
  SECTION("erased, and another one has its place") {
    g.erase(all[3]);
    g.emplace([&ran] { ++ran; });
  }
  data.recall()->detach(data);
  heist::executor<> plain{1};
  plain.run(g).get();
  ex.run(g).get();
  CHECK(ran == static_cast<int>(8 + 2 * g.size()));
}

TEST_CASE("order: what nothing precedes begins by its way, too, and conditions keep the numbers of their successors") {
  heist::executor<heist::policy::cats> ex{1};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  std::string order;
  std::vector<heist::task<>> all;
  for (char const c : {'a', 'b', 'c'}) all.push_back(g.emplace([&order, c] { order += c; }));
  ex.run(g).get();
  pretend_times(g, *heist::detail::task_access::graph_of(all[0]), {10, 30, 20});
  order.clear();
  ex.run(g).get();
  CHECK(order == "bca");

  heist::task_graph h;
  int chosen = 0;
  auto start = h.emplace([] {});
  auto choose = h.emplace_condition([] { return 1; });
  auto zero = h.emplace([&] { chosen = 100; }), one = h.emplace([&] { ++chosen; });
  start.precede(choose);
  choose.precede(zero, one);
  for (int run = 1; run != 4; ++run) {
    ex.run(h).get();
    CHECK(chosen == run);
    pretend_times(h, *heist::detail::task_access::graph_of(start), {1, 1, 1, 1000});
  }
}

namespace {

/// Its size does not show its contents; value_bytes below states it.
struct folder {
  std::vector<std::string> pages;
};
/// heist cannot know its size.
struct opaque {
  std::unique_ptr<int> inside;
};

}  // namespace

template <>
struct heist::value_bytes<folder> {
  static std::uint64_t of(folder const& f) noexcept { return f.pages.size() * 1000; }
};

TEST_CASE("footprints: tasks that declare nothing touch the values that they take and leave") {
  heist::executor<heist::policy::cab> ex{four_squads()};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  auto numbers = g.emplace([] { return std::vector<double>(100); });
  auto count = g.emplace([](std::vector<double> const& v) { return static_cast<std::int32_t>(v.size()); }, numbers);
  auto text = g.emplace([](std::vector<double>&& v) { return std::string(v.size() / 2, 'x'); }, heist::take(numbers));
  auto pages =
      g.emplace([](std::string const&, std::int32_t) { return folder{std::vector<std::string>(3)}; }, text, count);
  auto hidden = g.emplace([](folder const&) { return opaque{}; }, pages);
  auto said = g.emplace([](folder const&) {}, pages);
  auto nothing = g.emplace([] {});
  nothing.succeed(pages);
  said.footprint(5);
  for (int run = 0; run != 2; ++run) {
    ex.run(g).get();
    auto const known = g.memory();
    CHECK(known.footprint(numbers) == 800);
    CHECK(known.footprint(count) == 804);
    CHECK(known.footprint(text) == 850);
    CHECK(known.footprint(pages) == 3054);
    CHECK(known.footprint(hidden) == 3000);
    CHECK(known.footprint(said) == 5);
    CHECK(known.footprint(nothing) == 0);
  }
}

TEST_CASE("footprints: under cats tasks that declare nothing touch what the counters say, waits left out") {
  using counters = heist_test::told_counters;
  heist::executor<heist_test::measured_by<counters>> ex{four_squads()};
  heist::task_graph g, inner;
  inner.emplace([] { counters::touch(1 << 20); });
  auto number = g.emplace([] {
    counters::touch(64 * 100);
    return 1;
  });
  auto twice = g.emplace([](int n) { return long{2} * n; }, number);  // counts nothing: its values
  auto said = g.emplace([] { counters::touch(6400); });
  said.footprint(5);
  auto waits = g.emplace([&](auto ctx) {
    counters::touch(64 * 3);
    ctx.run(inner).get();
    auto other = ctx.submit([] { counters::touch(1 << 20); });
    other.get();
    counters::touch(64 * 4);
  });
  auto forks = g.emplace([](auto ctx) {
    counters::touch(64);
    ctx.fork_join([] { counters::touch(64 * 10); }, [] { counters::touch(64 * 20); });
  });
  auto fails = g.emplace([&, first = true]() mutable {
    counters::touch(64 * 7);
    if (std::exchange(first, false)) throw std::runtime_error{"once"};
  });
  fails.succeed(waits);  // which its exception would stop
  CHECK_THROWS_AS(ex.run(g).get(), std::runtime_error);
  for (int i = 0; i != 3; ++i) {
    ex.run(g).get();
    auto const known = g.memory();
    CHECK(known.footprint(number) == 6400);
    CHECK(known.footprint(twice) == sizeof(int) + sizeof(long));
    CHECK(known.footprint(said) == 5);
    CHECK(known.footprint(waits) == 64 * 7);
    auto const of_forks = known.footprint(forks);  // the work of a stolen child is counted on the thief's core
    CHECK((of_forks == 64 * 31 || of_forks == 64 * 11));
    CHECK(known.footprint(fails) == 64 * 7);
  }
  // If no counters are available, the sizes of values give the footprint.
  heist::executor<heist_test::measured_by<heist_test::rejected_counters>> rejected{four_squads()};
  heist::task_graph other;
  auto one = other.emplace([] { return 1; });
  rejected.run(other).get();
  CHECK(other.memory().footprint(one) == sizeof(int));
}

TEST_CASE("footprints: a run that failed counts nothing, the next one does") {
  heist::executor<heist::policy::cab> ex{four_squads()};
  heist_test::watchdog const guard{ex, seconds{60}};
  heist::task_graph g;
  bool fails = true;
  auto number = g.emplace([&] { return fails ? throw std::runtime_error{"asked to"} : 7; });
  auto twice = g.emplace([](int n) { return long{n} * 2; }, number);
  CHECK_THROWS_AS(ex.run(g).get(), std::runtime_error);
  CHECK(g.memory().footprint(twice) == 0);
  fails = false;
  ex.run(g).get();
  CHECK(g.memory().footprint(number) == sizeof(int));
  CHECK(g.memory().footprint(twice) == sizeof(int) + sizeof(long));
}
