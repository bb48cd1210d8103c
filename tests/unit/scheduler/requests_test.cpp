// Requests from outside: workers serve them in turn, and in time, beside their other work. The tests wait for each
// expected event; if an event did not happen, its test would not end.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "heist/async.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/sync/request_share.hpp"
#include "heist/graph.hpp"
#include "heist/pipeline.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist::options;
using heist_test::slow;

namespace {

template <class Context>
long fib(Context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] = ctx.fork_join([n](Context c) { return fib(c, n - 1); }, [n](Context c) { return fib(c, n - 2); });
  return a + b;
}

long part_of_fib(heist::context ctx, int n, std::atomic<bool> const& stop) {
  if (n < 2 || stop) return n;
  auto const [a, b] = ctx.fork_join([&stop, n](heist::context c) { return part_of_fib(c, n - 1, stop); },
                                    [&stop, n](heist::context c) { return part_of_fib(c, n - 2, stop); });
  return a + b;
}

/// Work that ends when `requests` requests from outside have been answered, one after the other, and not before.
template <class Policy, class Busy>
void answers_beside(std::size_t workers, int requests, Busy busy) {
  INFO(workers << " workers");
  heist::executor<Policy> ex{options{.workers = workers}};
  heist_test::watchdog guard{ex, 120s, "requests beside work"};
  std::atomic<bool> stop{false};
  std::atomic<std::size_t> begun{0};
  std::vector<heist::future<void>> all;
  for (std::size_t i = 0; i < workers; ++i) {
    all.push_back(ex.submit([&](auto ctx) {
      ++begun;
      busy(ctx, stop);
    }));
  }
  while (begun != workers) std::this_thread::yield();
  for (int i = 0; i < requests; ++i) REQUIRE(ex.submit([i] { return i; }).get() == i);
  stop = true;
  for (auto& f : all) f.get();
}

using cab = heist::policy::cab;
using replay = heist::policy::replay;
using kinds = std::tuple<heist_test::parent_first, heist_test::child_first, cab, replay>;

}  // namespace

TEST_CASE("requests: one worker begins them in the order in which they came", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "order"};
  std::vector<int> seen;
  std::atomic<bool> open{false};
  int const n = 1000;
  ex.post([&] {
    while (!open) std::this_thread::yield();
  });
  for (int i = 0; i < n; ++i) ex.post([&seen, i] { seen.push_back(i); });
  open = true;
  ex.wait_idle();
  REQUIRE(seen.size() == n);
  for (int i = 0; i < n; ++i) REQUIRE(seen[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("requests: of many clients, each with one under way, nobody waits much longer than the others", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    INFO(workers << " workers");
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "clients"};
    struct client {
      std::atomic<bool> free{true};
      long sent = 0;  ///< how many of all had been served then
      long late = 0;  ///< how often more than 4 times as many as there are clients came before
    };
    int const clients = 500;
    long const rounds = slow ? 10 : 100;
    std::vector<client> all(static_cast<std::size_t>(clients));
    std::atomic<long> served{0};
    while (served < clients * rounds) {
      for (client& c : all) {
        if (!c.free.load(std::memory_order_acquire)) continue;
        c.free.store(false, std::memory_order_relaxed);
        c.sent = served;
        ex.post([&c, &served] {
          c.late += ++served - c.sent > 4 * clients;
          c.free.store(true, std::memory_order_release);
        });
      }
    }
    ex.wait_idle();
    // In order of arrival at most all others come before; a second round may slip in while one client is looked at.
    // A worker that the system stops has taken up to 16 that it has not begun.
    long late = 0;
    for (client const& c : all) late += c.late;
    REQUIRE(late <= (workers == 1 ? 0 : served / 50));
  }
}

TEST_CASE("requests: behind one that takes long, the others are served in turn by the other worker", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s, "behind a long one"};
  std::atomic<bool> begun{false}, over{false};
  ex.post([&] {
    begun = true;
    while (!over) std::this_thread::yield();
  });
  std::vector<std::unique_ptr<std::atomic<int>>> answers;
  for (int i = 0; i < 200; ++i) answers.push_back(std::make_unique<std::atomic<int>>(0));
  for (int round = 0; round < 20; ++round) {
    for (auto& a : answers) ex.post([&a] { ++*a; });
    while (*answers.front() != round + 1) std::this_thread::yield();
  }
  for (auto& a : answers) {  // all of them, while the long one runs
    while (*a != 20) std::this_thread::yield();
  }
  CHECK(begun);
  over = true;
  ex.wait_idle();
}

TEMPLATE_LIST_TEST_CASE("requests: begin beside a fork/join computation on all workers", "[sched]", kinds) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    answers_beside<TestType>(workers, slow ? 5 : 50, [](auto ctx, std::atomic<bool>& stop) {
      while (!stop) fib(ctx, 15);
    });
  }
}

TEST_CASE("requests: begin beside one tree whose root never comes to its end", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "a deep tree"};
    std::atomic<bool> stop{false};
    auto tree = ex.submit([&stop](heist::context ctx) { return part_of_fib(ctx, 70, stop); });  // for years
    for (int i = 0; i < (slow ? 5 : 50); ++i) REQUIRE(ex.submit([i] { return i; }).get() == i);
    stop = true;
    tree.get();
  }
}

TEST_CASE("requests: begin beside scopes of many children", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    answers_beside<heist_test::parent_first>(workers, slow ? 5 : 50, [](auto ctx, std::atomic<bool>& stop) {
      std::atomic<long> n{0};
      heist::scope s{ctx};
      while (!stop) s.fork([&n] { n.fetch_add(1, std::memory_order_relaxed); });
      s.join();
    });
    // While the frame runs its children at the join.
    answers_beside<heist_test::parent_first>(workers, slow ? 2 : 10, [](auto ctx, std::atomic<bool>& stop) {
      heist::scope s{ctx};
      for (int i = 0; i < 3; ++i) {
        s.fork([&stop](auto c) {
          while (!stop) {
            heist::scope inner{c};
            for (int k = 0; k < 100; ++k) inner.fork([] {});
            inner.join();
          }
        });
      }
      s.join();
    });
  }
}

TEST_CASE("requests: begin beside graphs, short and endless", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "graphs"};
    std::atomic<bool> stop{false};
    heist::task_graph endless;
    auto start = endless.emplace([] {});
    auto loop = endless.emplace_condition([&stop] { return stop ? 1 : 0; });
    auto const end = endless.emplace([] {});
    start.precede(loop);
    loop.precede(loop, end);
    auto run = ex.run(endless);
    heist::task_graph plain;
    for (int i = 0; i < 100; ++i) plain.emplace([] {});
    auto runs = ex.run_until(plain, [&stop] { return stop.load(); });
    for (int i = 0; i < (slow ? 5 : 50); ++i) REQUIRE(ex.submit([i] { return i; }).get() == i);
    stop = true;
    run.get();
    runs.get();
  }
}

TEST_CASE("requests: begin although the computation must not leave its thread, or holds a mutex between forks",
          "[sched]") {
  answers_beside<heist_test::parent_first>(2, slow ? 5 : 50, [](auto ctx, std::atomic<bool>& stop) {
    heist::no_migrate const stay;
    auto const here = std::this_thread::get_id();
    bool moved = false;
    while (!stop) {
      fib(ctx, 12);
      moved = moved || std::this_thread::get_id() != here;
    }
    if (moved) throw std::runtime_error{"a task under a guard has moved"};
  });
}

TEST_CASE("requests: without end, they do not starve what the workers have begun", "[sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    INFO(workers << " workers");
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "a flood"};
    std::atomic<bool> over{false};
    std::atomic<int> waiting{0};
    auto work = ex.submit([&](heist::context ctx) {
      long sum = 0;
      for (int i = 0; i < 20; ++i) sum += fib(ctx, slow ? 10 : 18);
      over = true;
      return sum;
    });
    std::thread flood{[&] {
      while (!over) {
        if (waiting >= 100) {
          std::this_thread::yield();
          continue;
        }
        ++waiting;
        ex.post([&waiting] { --waiting; });
      }
    }};
    flood.join();
    CHECK(work.get() == 20 * (slow ? 55 : 2584));
    ex.wait_idle();
  }
}

TEST_CASE("requests: the share of time of those that wait together, and of the worker's own", "[sched]") {
  heist::detail::request_share share;
  std::uint64_t now = 1'000'000'000;  // ticks
  SECTION("short tasks pass without a look, but not the first after nothing has waited") {
    share.update(now);
    share.update(now + 1);
    CHECK(share.passes());
    share.nothing_waits(now + 2);
    CHECK_FALSE(share.passes());
  }
  SECTION("a row has its number, and goes on for as long as the worker's own tasks before it") {
    for (std::uint64_t const own_took : {1'000, 1'000'000}) {
      share.taken(now, 1);
      share.own_turn(now);
      now += own_took;
      for (int i = 0; i != 16; ++i) share.taken(now, 1);
      CHECK(share.is_due(now + 100'000) == (own_took == 1'000'000));
      CHECK_FALSE(share.is_due(now + 1'000'000));
      now += 10'000'000;
      share.own_turn(now);
    }
  }
}

TEST_CASE("requests: many that have come before do not keep one waiting beside long tasks", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "short, then long"};
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> long_ones{0};
    int const last = 40;
    std::atomic<bool> open{false};
    ex.post([&] {
      while (!open) std::this_thread::yield();
      for (int i = 0; i < last; ++i) {
        ex.post([&] {
          ++long_ones;
          std::this_thread::sleep_for(2ms);
        });
      }
      for (int i = 0; i < 2000; ++i) ex.post([] {});  // run before them
    });
    for (int i = 0; i < 100; ++i) ex.post([] {});
    open = true;
    while (long_ones == 0) std::this_thread::yield();
    std::atomic<int> seen{0};
    auto request = ex.submit([&] { seen = long_ones.load(); });
    int const begun = long_ones;
    request.get();
    CHECK(seen <= begun + 20);  // usually 1; a row of requests is cut where the system stops the worker
    ex.wait_idle();
    REQUIRE(long_ones == last);
  }
}

TEST_CASE("requests: a worker whose tasks keep posting others comes to the oldest one, too", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "the oldest of one's own"};
  std::atomic<bool> oldest{false};
  std::function<void()> again = [&] {
    if (!oldest) ex.post(again);
  };
  ex.post([&] {
    ex.post([&] { oldest = true; });
    ex.post(again);
  });
  ex.wait_idle();
  CHECK(oldest);
}

TEST_CASE("starvation: a loop through a condition waits for a sibling on the same worker", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "a loop and its sibling"};
  std::atomic<bool> flag{false};
  heist::task_graph g;
  auto start = g.emplace([] {});
  auto loop = g.emplace_condition([&flag] { return flag ? 1 : 0; });
  auto const end = g.emplace([] {});
  start.precede(loop);
  loop.precede(loop, end);
  g.emplace([&flag] { flag = true; });
  ex.run(g).get();
  CHECK(flag);
}

TEST_CASE("no_migrate: very many that wait for one thing go on in linear time", "[sched]") {
  // Each takes the first of a list; a walk over all of them for each would take minutes.
  heist::executor ex{options{.workers = 2, .stack_size = std::size_t{64} << 10}};
  heist::executor other{1};
  heist_test::watchdog guard{ex, 120s, "many under guards"};
  std::atomic<bool> open{false};
  std::atomic<int> waiting{0};
  heist::task_graph g;
  g.emplace([&open] {
    while (!open) std::this_thread::sleep_for(1ms);
  });
  auto const run = other.run(g);
  int const n = slow ? 500 : 20'000;
  for (int i = 0; i < n; ++i) {
    ex.post([&] {
      heist::no_migrate const stay;
      ++waiting;
      run.wait();
    });
  }
  while (waiting != n) std::this_thread::sleep_for(1ms);
  open = true;
  ex.wait_idle();
  run.get();
}

TEMPLATE_TEST_CASE("expedite(): a task begins before those that were submitted before it", "[requests][expedite]",
                   heist::policy::random, heist::policy::cab, heist::policy::replay) {
  heist::executor<TestType> ex{1};
  heist_test::watchdog guard{ex, 120s, "expedite"};
  for (bool inside : {false, true}) {
    std::vector<int> order;
    std::atomic<bool> go{false};
    auto gate = ex.submit([&] {
      while (!go) std::this_thread::yield();
    });
    auto const fill = [&] {
      std::vector<heist::future<int>> all;
      for (int i = 0; i != 20; ++i) {
        all.push_back(ex.submit([&order, i] {
          order.push_back(i);
          return i;
        }));
      }
      all[13].raise_priority();
      all[13].raise_priority();
      all[7].raise_priority();
      return all;
    };
    std::vector<heist::future<int>> all;
    if (inside) {
      go = true;
      all = ex.submit(fill).get();
    } else {
      all = fill();
      go = true;
    }
    gate.get();
    CHECK(all[13].get() == 13);
    for (int i = 0; i != 20; ++i) {
      if (i != 13) CHECK(all[static_cast<std::size_t>(i)].get() == i);
    }
    ex.wait_idle();
    REQUIRE(order.size() == 20);
    if (!inside) {
      CHECK(order[0] == 13);
      CHECK(order[1] == 7);
    }
  }
}

TEST_CASE("expedite(): whoever takes the task first, it runs once, and everything ends", "[requests][expedite]") {
  std::atomic<int> runs{0}, alive{0};
  struct counted {
    std::atomic<int>* count;
    explicit counted(std::atomic<int>& c) noexcept : count{&c} { ++c; }
    counted(counted const& o) noexcept : count{o.count} { ++*count; }
    ~counted() { --*count; }
  };
  int submitted = 0;
  for (std::size_t workers : {1u, 2u, 5u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "expedite"};
    for (int i = 0; i != (slow ? 400 : 4000); ++i) {
      ++submitted;
      heist::shared_future<int> f = ex.submit([&runs, i, kept = counted{alive}] {
        ++runs;
        return i;
      });
      if (i % 3 == 0) {
        std::thread other{[f] { f.raise_priority(); }};
        f.raise_priority();
        other.join();
      } else {
        f.raise_priority();
      }
      if (i % 2 == 0) CHECK(f.get() == i);
      f.raise_priority();  // it has ended, or will
      if (i % 500 == 0) ex.wait_idle();
    }
  }
  CHECK(runs == submitted);
  CHECK(alive == 0);
}

TEST_CASE("expedite(): what cannot be raised, or has a stop or a name, stays right", "[requests][expedite]") {
  heist::future<int> ended;
  {
    heist::executor ex{2};
    heist_test::watchdog guard{ex, 120s, "expedite"};
    std::stop_source stop;
    stop.request_stop();
    auto stopped = ex.submit(heist::with{.stop = stop.get_token()}, [] { return 1; });
    stopped.raise_priority();
    CHECK_THROWS_AS(stopped.get(), heist::stopped_error);
    auto failed = ex.submit([]() -> int { throw std::runtime_error{"told"}; });
    failed.raise_priority();
    CHECK_THROWS_WITH(failed.get(), "told");
    auto placed =
        ex.submit(heist::with{.priority = heist::priority::low, .worker = 1, .name = "placed"}, [] { return 2; });
    placed.raise_priority();
    CHECK(placed.get() == 2);
    auto first = ex.submit([] { return 3; }).share();
    auto after = ex.submit(heist::after(first), [](int x) { return x + 1; });
    after.raise_priority();
    first.raise_priority();
    CHECK(after.get() == 4);
    auto any = heist::when_any(first, ex.submit([] { return 0; }).share());
    any.raise_priority();
    any.get();
    heist::pipeline p{2, heist::serial_stage([](heist::token& t) { t.stop(); })};
    auto run = ex.run(p);
    run.raise_priority();
    run.get();
    // A task whose run is stopped raises a priority, too: its submitted task inherits the stop.
    heist::task_graph g;
    g.emplace([&](heist::context c) {
      auto inner = c.submit([](heist::context in) {
        while (!in.stop_requested()) std::this_thread::yield();
      });
      inner.raise_priority();
      inner.get();
    });
    auto outer = ex.run(g);
    outer.request_stop();
    CHECK_THROWS_AS(outer.get(), heist::stopped_error);
    ended = ex.submit([] { return 5; });
    ended.wait();
  }
  ended.raise_priority();  // the executor is gone
  CHECK(ended.get() == 5);
  CHECK_THROWS_AS(ended.raise_priority(), heist::executor_error);
}
