// executor<policy::automatic>: other executors run its work once and right while it tries policies. Failures and stops
// reach their callers, and notes state the result of the search.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/topology.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>  // exchange
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using executor = heist::executor<heist::policy::automatic>;
using seconds = std::chrono::seconds;

namespace {

heist::options four_squads(std::size_t workers = 8) {
  return {.workers = workers,
          .machine = heist::topology::parse("package:4 l3:1 core:2 pu:1"),
          .squads = heist::squad_by::l3};
}

/// An executor that has made the others already: for short runs alone it would not.
struct ready_executor : executor {
  explicit ready_executor(heist::options const& wanted = four_squads()) : executor{wanted} {
    bool const squads = wanted.machine.has_value();
    heist_test::watchdog guard{"an executor makes others", seconds{120}};
    while (!has_others(squads)) {
      // A new graph, since a thread that was interrupted may have used up what this graph's ways may cost.
      heist::task_graph g;
      g.emplace([] { std::this_thread::sleep_for(std::chrono::milliseconds{1}); });
      for (int i = 0; i != 200 && !has_others(squads); ++i) run(g).get();
    }
  }
  bool has_others(bool squads) const {
    std::string const text = state_text();
    return (!squads || text.find("as under cab") != std::string::npos) &&
           text.find("as under replay") != std::string::npos;
  }
};

/// The sum of the numbers below `n`, by forks down to 8.
template <class Context>
long sum(Context ctx, long from, long to) {
  if (to - from <= 8) {
    long s = 0;
    for (long i = from; i != to; ++i) s += i;
    return s;
  }
  long const middle = from + (to - from) / 2;
  auto const [a, b] =
      ctx.fork_join([=](auto c) { return sum(c, from, middle); }, [=](auto c) { return sum(c, middle, to); });
  return a + b;
}
constexpr long sum_below(long n) {
  return n * (n - 1) / 2;
}

/// A diamond-shaped graph whose tasks count how often they ran.
struct counting {
  heist::task_graph g;
  std::vector<std::atomic<int>> ran = std::vector<std::atomic<int>>(66);
  std::atomic<bool> fails{false};

  counting() {
    auto first = add(0), last = add(65);
    for (std::size_t i = 1; i != 65; ++i) {
      auto t = add(i);
      first.precede(t);
      t.precede(last);
    }
  }
  heist::task<> add(std::size_t i) {
    return g.emplace([this, i] {
      ++ran[i];
      if (i == 0 && fails) throw std::runtime_error{"asked to"};
    });
  }
  bool all_ran(int times) const {
    for (auto const& r : ran) {
      if (r != times) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("what an executor offers, one of policy::automatic offers", "[automatic]") {
  heist_test::watchdog guard{"what an executor offers", seconds{60}};
  executor ex{{.workers = 2}};
  CHECK(ex.worker_count() == 2);
  CHECK(ex.submit([] { return 1; }).get() == 1);
  CHECK(ex.invoke([](auto ctx) { return sum(ctx, 0, 1000); }) == sum_below(1000));
  CHECK(ex.invoke([](heist::context ctx) { return sum(ctx, 0, 1000); }) == sum_below(1000));
  CHECK(ex.run_here([](auto ctx) { return sum(ctx, 0, 1000); }) == sum_below(1000));
  CHECK(ex.invoke([](auto ctx) {
    std::atomic<int> n{0};
    heist::scope s{ctx};
    for (int i = 0; i != 20; ++i) s.fork([&] { ++n; });
    s.join();
    ctx.footprint(10);
    ctx.assign_continuation(1);
    static_cast<void>(ctx.inter_fork([&] { ++n; }, [&] { ++n; }));
    return n + (ctx.may_be_stolen() ? 0 : 100);
  }) == 22);
  std::vector<int> v(1000);
  std::iota(v.begin(), v.end(), 0);
  heist::for_each(ex, v, [](int& x) { x *= 2; });
  CHECK(heist::reduce(ex, v) == 999000);
  std::atomic<int> posted{0};
  ex.post([&] { ++posted; });
  ex.wait_idle();
  CHECK(posted == 1);
  heist::executor_ref any = ex;
  CHECK(any.invoke([] { return 3; }) == 3);
  CHECK_FALSE(ex.state_text().empty());
  CHECK(ex.invoke([](auto ctx) { return ctx.blocking([] { return 4; }); }) == 4);
}

TEST_CASE("a region is run right while ways are tried, and its note says what was found", "[automatic]") {
  heist_test::watchdog guard{"a region is run right while ways are tried", seconds{120}};
  ready_executor ex;
  heist::region r{{.branching = 2, .bytes = std::size_t{8} << 20}};
  CHECK(r.explain().empty());
  for (int i = 0; i != 80; ++i) CHECK(ex.invoke(r, [](auto ctx) { return sum(ctx, 0, 500); }) == sum_below(500));
  CHECK(r.explain().find(" runs") != std::string::npos);
  // From inside of a task, and with a context that is named.
  long const s = ex.invoke([&](auto ctx) {
    long all = 0;
    for (int i = 0; i != 10; ++i) all += ctx.invoke(r, [](heist::context c) { return sum(c, 0, 100); });
    return all;
  });
  CHECK(s == 10 * sum_below(100));
}

TEST_CASE("what is faster is found, and kept", "[automatic]") {
  heist_test::watchdog guard{"what is faster is found", seconds{600}};
  // The first four threads are the executor's own: there it takes longer.
  static std::atomic<int> threads;
  static thread_local bool own;
  threads = 0;
  heist::options wanted = four_squads(4);
  wanted.on_worker_start = [](std::size_t) { own = threads++ < 4; };
  executor ex{wanted};
  static std::atomic<int> slower;  // by so many milliseconds
  auto const work = [] {
    if (own) std::this_thread::sleep_for(std::chrono::milliseconds{slower});
  };
  // A region's other ways are the executor's own, but for these; a graph's are not.
  auto const found = [](std::string const& note) {
    return note.rfind("replay", 0) == 0 || note.rfind("squads", 0) == 0;
  };
  // On a busy machine a millisecond may be noise: then the executor must find a larger difference. `begin` forgets what was
  // measured with the smaller one.
  auto const until_found = [&](auto const& begin, auto const& run) {
    for (slower = 1; slower <= 64; slower = 4 * slower) {
      begin();
      for (int runs = 0; runs != 2000 / slower + 100; ++runs) {
        if (found(run())) return true;
      }
    }
    return false;
  };
  std::optional<heist::region> r;
  CHECK(until_found([&] { r.emplace(); },
                    [&] {
                      ex.invoke(*r, work);
                      // On a busy machine the note may name the fastest way before the executor has compared it with random.
                      std::string const note = r->explain();
                      return note.find("of random's time") == std::string::npos ? std::string{} : note;
                    }));
  CHECK(threads > 4);
  std::optional<heist::task_graph> g;
  CHECK(until_found(
      [&] {
        g.emplace();
        g->emplace(work);
      },
      [&] {
        ex.run(*g).get();
        return g->explain();
      }));
  CHECK(g->memory().tasks() == 1);
}

TEST_CASE("where data that move cost time, a region's parts stay with their squads, on the executor's own workers",
          "[automatic]") {
  heist_test::watchdog guard{"a region's parts stay with their squads", seconds{600}};
  // On a busy machine a thread may start late and other threads take its part, so that cab does not win at once. Then
  // the executor also tries replay, in another executor. Longer parts give a late thread more time to start.
  bool found = false;
  for (int longer = 1; longer <= 256 && !found; longer = 4 * longer) {
    for (int attempt = 0; attempt != 4 && !found; ++attempt) {
      static std::atomic<int> threads;
      threads = 0;
      executor ex{{.workers = 4,
                   .machine = heist::topology::parse("package:4 l3:1 core:1 pu:1"),
                   .squads = heist::squad_by::l3,
                   .on_worker_start = [](std::size_t) { ++threads; }}};
      heist::region r{{.branching = 4, .boundary_level = 2}};
      std::vector<std::size_t> had(4, 4);
      auto const part = [&](auto ctx, std::size_t i) {
        bool const moved = std::exchange(had[i], ctx.worker_id()) != ctx.worker_id();
        std::this_thread::sleep_for(longer * std::chrono::microseconds{moved ? 2200 : 200});
      };
      for (int i = 0; i != 200 && !found && threads <= 4; ++i) {
        ex.invoke(r, [&](auto ctx) {
          ctx.fork_join([&](auto c) { part(c, 0); }, [&](auto c) { part(c, 1); }, [&](auto c) { part(c, 2); },
                        [&](auto c) { part(c, 3); });
        });
        found = r.explain().rfind("cab", 0) == 0 || r.explain().rfind("cats", 0) == 0;
      }
    }
  }
  CHECK(found);
}

TEST_CASE("one worker has nothing to choose, and says so", "[automatic]") {
  executor ex{{.workers = 1}};
  heist::region r;
  for (int i = 0; i != 3; ++i) CHECK(ex.invoke(r, [](auto ctx) { return sum(ctx, 0, 50); }) == sum_below(50));
  CHECK(r.explain() == "random: there is one worker, so there is nothing to choose");
}

TEST_CASE("a region's result may be anything, and its exceptions reach who entered it", "[automatic]") {
  heist_test::watchdog guard{"a region's result may be anything", seconds{120}};
  ready_executor ex;
  heist::region r;
  int kept = 0;
  for (int i = 0; i != 150; ++i) {
    int& same = ex.invoke(r, [&]() -> int& { return kept; });
    CHECK(&same == &kept);
    ex.invoke(r, [&] { kept = i; });
    CHECK(ex.invoke(r, [] { return std::string{"text"}; }) == "text");
    CHECK_THROWS_AS(ex.invoke(r, [](auto ctx) { ctx.fork_join([] {}, [] { throw std::logic_error{"mine"}; }); }),
                    std::logic_error);
  }
}

TEST_CASE("runs that throw or are stopped show nothing", "[automatic]") {
  heist_test::watchdog guard{"runs that throw or are stopped show nothing", seconds{60}};
  executor ex{{.workers = 2}};
  heist::region r;
  for (int i = 0; i != 20; ++i) CHECK_THROWS(ex.invoke(r, [] { throw std::runtime_error{"no"}; }));
  CHECK(r.explain().empty());
  for (int i = 0; i != 20; ++i) {
    std::stop_source stop;
    ex.invoke(heist::with{.stop = stop.get_token()}, [&](auto ctx) {
      stop.request_stop();
      ctx.invoke(r, [](auto c) { CHECK(c.stop_requested()); });
    });
  }
  CHECK(r.explain().empty());
}

TEST_CASE("a stop is seen where a region's run is, wherever that is", "[automatic]") {
  heist_test::watchdog guard{"a stop is seen where a region's run is", seconds{60}};
  ready_executor ex;
  heist::region r;
  for (int i = 0; i != 150; ++i) {
    std::stop_source stop;
    bool const seen = ex.invoke(heist::with{.stop = stop.get_token()}, [&](auto ctx) {
      return ctx.invoke(r, [&](auto c) {
        if (i % 4 == 0) stop.request_stop();
        auto const [a, b] = c.fork_join([](auto d) { return d.stop_requested(); }, [] { return true; });
        return a && b;
      });
    });
    CHECK(seen == (i % 4 == 0));
  }
}

TEST_CASE("a region's body may use the context of the task that entered it", "[automatic]") {
  heist_test::watchdog guard{"a region's body may use the context of the task that entered it", seconds{120}};
  ready_executor ex;
  heist::region r, within;
  for (int i = 0; i != 150; ++i) {
    std::atomic<long> in_scope{0}, in_loop{0};
    long s = 0, entered = 0;
    ex.invoke([&](heist::context outer) {
      outer.invoke(r, [&](heist::context) {
        s = sum(outer, 0, 300);
        auto const [a, b, c] = outer.fork_join([&](auto in) { return sum(in, 0, 100); }, [] { return 1; },
                                               [&] { return sum(outer, 100, 300); });
        CHECK(a + c == s);
        CHECK(b == 1);
        {
          heist::scope children{outer};
          for (int k = 0; k != 20; ++k) children.fork([&, k](auto in) { in_scope += sum(in, 0, k); });
          children.join();
        }
        heist::for_each_index(outer, 0, 100, [&](int k) { in_loop += k; });
        entered = outer.invoke(within, [](auto in) { return sum(in, 0, 100); });
      });
      heist::scope around{outer};
      outer.invoke(r, [&](heist::context) {
        for (int k = 0; k != 20; ++k) around.fork([&, k](auto in) { in_scope += sum(in, 0, k); });
      });
      around.join();
    });
    CHECK(s == sum_below(300));
    CHECK(in_scope == 2 * 1140);
    CHECK(in_loop == sum_below(100));
    CHECK(entered == sum_below(100));
  }
}

TEST_CASE("a region has one run at a time, a region in another's run is a part of it", "[automatic]") {
  heist_test::watchdog guard{"a region has one run at a time", seconds{120}};
  ready_executor ex;
  heist::region outer, inner;
  for (int i = 0; i != 150; ++i) {
    long const s = ex.invoke(outer, [&](auto ctx) {
      bool rejected = false;
      try {
        ctx.invoke(outer, [] {});
      } catch (heist::region_error const&) {
        rejected = true;
      }
      return ctx.invoke(inner, [](auto c) { return sum(c, 0, 100); }) + (rejected || i >= 0 ? 0 : 1);
    });
    CHECK(s == sum_below(100));
  }
  CHECK_FALSE(outer.explain().empty());
}

TEST_CASE("a task that waits for its own executor is told so, wherever it is run", "[automatic]") {
  heist_test::watchdog guard{"a task that waits for its own executor", seconds{60}};
  ready_executor ex{four_squads(4)};
  heist::region r;
  heist::task_graph g;
  int told = 0;
  auto const wait = [&] {
    try {
      ex.wait_idle();
    } catch (heist::executor_error const&) {
      ++told;
    }
  };
  g.emplace(wait);
  for (int i = 0; i != 50; ++i) {
    ex.invoke(r, wait);
    ex.run(g).get();
  }
  CHECK(told == 100);
}

TEST_CASE("the state of all that there is, is told", "[automatic]") {
  ready_executor ex{four_squads(4)};
  CHECK(ex.state_text().find("  squad 1: ") != std::string::npos);
  CHECK(ex.state_text().find("beside it, for what is run as under cab: 4 workers") != std::string::npos);
}

TEST_CASE("a child of fork() leaves the others alone", "[automatic]") {
  auto ex = std::make_unique<ready_executor>(four_squads(4));
  heist::region r;
  for (int i = 0; i != 60; ++i) ex->invoke(r, [](auto ctx) { return sum(ctx, 0, 100); });
  pid_t const child = fork();
  if (child == 0) {
    ex.reset();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("two regions run at once, from tasks and from outside", "[automatic]") {
  heist_test::watchdog guard{"two regions run at once", seconds{120}};
  ready_executor ex{four_squads(4)};
  heist::region a, b;
  std::atomic<int> right{0};
  std::thread other{[&] {
    for (int i = 0; i != 80; ++i)
      right += ex.invoke(a, [](auto ctx) { return sum(ctx, 0, 200); }) == sum_below(200) ? 1 : 0;
  }};
  for (int i = 0; i != 80; ++i) CHECK(ex.invoke(b, [](auto ctx) { return sum(ctx, 0, 300); }) == sum_below(300));
  other.join();
  CHECK(right == 80);
}

TEST_CASE("a region may go from one executor to another", "[automatic]") {
  heist_test::watchdog guard{"a region may go from one executor to another", seconds{60}};
  heist::region r;
  for (int i = 0; i != 4; ++i) {
    executor ex{{.workers = 2}};
    for (int j = 0; j != 15; ++j) CHECK(ex.invoke(r, [](auto ctx) { return sum(ctx, 0, 100); }) == sum_below(100));
    heist::executor<heist::policy::cab> fixed{{.workers = 2}};
    CHECK(fixed.invoke(r, [](auto ctx) { return sum(ctx, 0, 100); }) == sum_below(100));
  }
}

TEST_CASE("a graph's tasks run once each in every run, and its note says what was found", "[automatic]") {
  heist_test::watchdog guard{"a graph's tasks run once each in every run", seconds{120}};
  ready_executor ex;
  counting c;
  for (int i = 0; i != 120; ++i) {
    ex.run(c.g).get();
    REQUIRE(c.all_ran(i + 1));
  }
  CHECK(c.g.explain().find(" runs") != std::string::npos);
  CHECK(ex.invoke([&](auto ctx) {
    ctx.run(c.g).get();
    return c.all_ran(121);
  }));
  ex.run_n(c.g, 10).get();
  CHECK(c.all_ran(131));
  int left = 5;
  ex.run_until(c.g, [&] { return --left == 0; }).get();
  CHECK(c.all_ran(136));
  c.g.forget();
  ex.run(c.g).get();
  CHECK(c.all_ran(137));
}

TEST_CASE("a graph fails, is stopped and calls back as under any policy", "[automatic]") {
  heist_test::watchdog guard{"a graph fails", seconds{120}};
  ready_executor ex;
  counting c;
  std::atomic<int> called{0};
  for (int i = 0; i != 60; ++i) {
    c.fails = i % 3 == 1;
    auto run = ex.run(c.g, [&] { ++called; });
    if (c.fails) {
      CHECK_THROWS_AS(run.get(), std::runtime_error);
    } else {
      run.get();
    }
    std::stop_source stop;
    stop.request_stop();
    auto stopped = ex.run(c.g, heist::with{.stop = stop.get_token()});
    stopped.wait();
    CHECK(stopped.stopped());
    CHECK(called == i + 1);
  }
  c.fails = true;
  static_cast<void>(ex.run(c.g));
  CHECK_THROWS_AS(ex.wait_idle(), std::runtime_error);
}

TEST_CASE("a graph is edited between runs", "[automatic]") {
  heist_test::watchdog guard{"a graph is edited between runs", seconds{120}};
  ready_executor ex;
  heist::executor<> plain{1};
  heist::task_graph g;
  std::atomic<int> ran{0};
  std::vector<heist::task<>> tasks;
  int expected = 0;
  for (int i = 0; i != 100; ++i) {
    if (i % 7 == 0) {
      for (int k = 0; k != 5; ++k) {
        tasks.push_back(g.emplace([&] { ++ran; }));
        if (tasks.size() > 3) tasks[tasks.size() / 2].precede(tasks.back());
      }
    }
    if (i % 11 == 10) {
      g.erase(tasks.back());
      tasks.pop_back();
      if (i % 2 == 0) {  // another executor has the edited graph first
        plain.run(g).get();
        expected += static_cast<int>(tasks.size());
      }
    }
    ex.run(g).get();
    expected += static_cast<int>(tasks.size());
    REQUIRE(ran == expected);
  }
}

TEST_CASE("a graph is edited after any number of runs, and another executor has it first", "[automatic]") {
  heist_test::watchdog guard{"edited, and another executor has it first", seconds{120}};
  ready_executor ex;
  heist::executor<> plain{1};
  for (int before = 0; before != 60; ++before) {
    heist::task_graph g;
    std::atomic<int> ran{0};
    auto first = g.emplace([&] { ++ran; }), second = g.emplace([&] { ++ran; });
    first.precede(second);
    for (int i = 0; i != before; ++i) ex.run(g).get();
    second.precede(g.emplace([&] { ++ran; }));
    plain.run(g).get();
    for (int i = 0; i != 60; ++i) ex.run(g).get();
    REQUIRE(ran == 2 * before + 3 * 61);
  }
}

TEST_CASE("runs of a graph in line, from several threads and executors, all happen", "[automatic]") {
  heist_test::watchdog guard{"runs of a graph in line", seconds{120}};
  ready_executor ex{four_squads(4)};
  heist::executor<> plain{2};
  counting c;
  std::thread other{[&] {
    for (int i = 0; i != 60; ++i) ex.run(c.g).get();
  }};
  for (int i = 0; i != 60; ++i) {
    auto first = ex.run(c.g), second = ex.run(c.g);
    if (i % 5 == 0) plain.run(c.g).get();
    second.get();
    first.get();
  }
  other.join();
  CHECK(c.all_ran(192));
}

TEST_CASE("graphs with conditions, and graphs within graphs", "[automatic]") {
  heist_test::watchdog guard{"graphs with conditions", seconds{120}};
  ready_executor ex;
  counting inner;
  heist::task_graph g;
  int round = 0, rounds = 0;
  auto start = g.emplace([&] { round = 0; });
  auto again = g.emplace([&] { ++rounds; });
  auto part = g.compose(inner.g);
  auto ask = g.emplace_condition([&] { return ++round < 3 ? 0 : 1; });
  auto end = g.emplace([] {});
  start.precede(again);
  again.precede(part);
  part.precede(ask);
  ask.precede(again, end);
  for (int i = 0; i != 60; ++i) {
    ex.run(g).get();
    REQUIRE(rounds == 3 * (i + 1));
    REQUIRE(inner.all_ran(3 * (i + 1)));
  }
}

TEST_CASE("a graph that somebody else runs is run by random stealing, and its ways are not ruled out", "[automatic]") {
  heist_test::watchdog guard{"a graph that somebody else runs", seconds{120}};
  ready_executor ex{four_squads(4)};
  heist::executor<> plain{2};
  counting c;
  std::atomic<bool> goes_on{false};
  c.g.emplace([&] {
    while (!goes_on) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds{3});  // long runs: trying policies costs little in comparison
  });
  goes_on = true;
  for (int i = 0; i != 8; ++i) ex.run(c.g).get();
  for (int i = 0; i != 8; ++i) {
    goes_on = false;
    auto other = plain.run(c.g);
    auto mine = ex.run(c.g);
    goes_on = true;
    other.get();
    mine.get();
  }
  CHECK(c.all_ran(24));
  INFO(c.g.explain());
  CHECK(c.g.explain().find("as far as is known after 8 runs") != std::string::npos);
}

TEST_CASE("what was recorded of a graph is followed by nobody else, and forgotten with the executor", "[automatic]") {
  counting c;
  int runs = 0;
  auto const settles = [&](executor& ex) {
    for (int i = 0; i < 1000 && (i < 100 || c.g.explain().find("as far as") != std::string::npos); ++i, ++runs)
      ex.run(c.g).get();
  };
  {
    ready_executor many{heist::options{.workers = 4}};
    settles(many);
  }
  // A strict memory of four workers would be refused by both.
  heist::executor<heist::policy::replay> one{1};
  one.run(c.g).get();
  ++runs;
  ready_executor two{heist::options{.workers = 2}};
  settles(two);
  one.run(c.g).get();
  ++runs;
  CHECK(c.all_ran(runs));
}

TEST_CASE("all who wait for all work wait for what the others run", "[automatic]") {
  heist_test::watchdog guard{"all who wait for all work", seconds{120}};
  ready_executor ex{heist::options{.workers = 2}};
  heist::task_graph g;
  std::atomic<bool> goes_on{true};
  std::atomic<int> done{0};
  for (int i = 0; i != 8; ++i) {
    g.emplace([&] {
      while (!goes_on) std::this_thread::yield();
      ++done;
    });
  }
  for (int runs = 0; runs != 40; ++runs) {
    ex.run(g).get();
    goes_on = false;
    done = 0;
    auto run = ex.run(g);
    std::atomic<int> early{0};
    std::atomic<int> waiting{0};
    std::vector<std::thread> all;
    for (int i = 0; i != 3; ++i) {
      all.emplace_back([&] {
        ++waiting;
        ex.wait_idle();
        if (done != 8) ++early;
      });
    }
    while (waiting != 3) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
    goes_on = true;
    for (auto& t : all) t.join();
    run.get();
    CHECK(early == 0);
  }
}

TEST_CASE("the end of the executor waits for what its others run, and for what that submits", "[automatic]") {
  heist_test::watchdog guard{"the end of the executor waits for what its others run", seconds{120}};
  for (int runs = 0; runs != 40; ++runs) {
    std::atomic<int> done{0};
    heist::task_graph g;
    {
      ready_executor ex{heist::options{.workers = 2}};
      for (int i = 0; i != 8; ++i) {
        g.emplace([&] {
          ++done;
          if (runs % 2 == 0) ex.post([&] { ++done; });
        });
      }
      for (int i = 0; i != runs; ++i) ex.run(g).get();
      static_cast<void>(ex.run(g));
    }
    CHECK(done == (runs + 1) * (runs % 2 == 0 ? 16 : 8));
  }
}
