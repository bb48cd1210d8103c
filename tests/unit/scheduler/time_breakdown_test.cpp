// heist/tools/observe/time_breakdown.hpp: exact sums on a clock that the test moves, and the accounting of real
// executors.
#include "heist/tools/observe/time_breakdown.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/tools/observe/counters.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::time_report;
using heist::time_shares;

namespace {

struct hand_clock {
  static std::uint64_t ticks() noexcept { return now.load(); }
  static inline std::atomic<std::uint64_t> now{0};
};
using by_hand = heist::basic_time_breakdown<hand_clock>;

/// Each look takes a tick: whatever happens at all takes some time.
struct counting_clock {
  static std::uint64_t ticks() noexcept { return now.fetch_add(1); }
  static inline std::atomic<std::uint64_t> now{0};
};
using by_event = heist::basic_time_breakdown<counting_clock>;

std::uint64_t sum(time_shares const& s) {
  return s.application + s.steal + s.search + s.application_in_join + s.steal_in_join + s.search_in_join + s.asleep;
}

void check_identity(time_report const& r) {
  std::uint64_t walls = 0;
  for (auto const& w : r.workers) {
    CHECK(sum(w) == w.wall);
    CHECK(w.awake() + w.asleep == w.wall);
    walls += w.wall;
  }
  CHECK(r.total().wall == walls);
  CHECK(sum(r.total()) == walls);
}

template <class Join, class Observer = heist::time_breakdown>
using executor_with = heist::executor<heist::policy::with_join<heist::policy::random, Join>, Observer>;

/// Empty forks until `done`: what this task and its callers have forked can be stolen meanwhile.
template <class Context>
void fork_until(Context c, std::atomic<bool> const& done) {
  while (!done) {
    c.fork_join([] {}, [] {});
    std::this_thread::yield();
  }
}

void spend(std::uint64_t ticks) {
  for (std::uint64_t const begin = heist::os_env::ticks(); heist::os_env::ticks() - begin < ticks;) {
  }
}

/// On two workers: a thief steals the second child, which forks a task. Only the parent's worker can take that task,
/// while it waits for the second child.
template <class Context>
void meet_in_the_join(Context ctx) {
  std::atomic<bool> stolen{false}, inner_ran{false};
  ctx.fork_join([&](Context c) { fork_until(c, stolen); },
                [&](Context c) {
                  stolen = true;
                  c.fork_join([&](Context d) { fork_until(d, inner_ran); }, [&] { inner_ran = true; });
                });
}

}  // namespace

TEST_CASE("time_breakdown: every tick goes where the events say", "[time_breakdown]") {
  hand_clock::now = 500;
  by_hand b;
  b.start(2);
  auto const pass = [](std::uint64_t n) { hand_clock::now += n; };
  pass(1);  // search, by both
  b.search_begin(0, 0);
  pass(2);
  b.attempt(0);
  pass(3);  // in vain: search
  b.attempt(0);
  pass(5);  // with success: steal
  b.success(0);
  pass(7);  // still the steal
  b.work_begin(0, 0);
  pass(11);              // application
  b.search_begin(0, 1);  // a join waits
  pass(13);
  b.attempt(0);
  pass(17);
  b.attempt(0);
  b.success(0);
  pass(19);
  b.work_begin(0, 1);
  pass(23);
  b.search_begin(0, 2);  // one on top of it
  pass(29);
  b.work_begin(0, 1);
  pass(31);
  b.park(0, nullptr);  // the fiber; the worker continues with another
  pass(37);
  b.search_begin(0, 0);
  pass(41);
  b.sleep(0);
  pass(43);
  b.wake(0);
  pass(47);
  b.work_begin(0, 0);
  b.resume(0, nullptr);
  b.work_begin(0, 1);
  pass(53);
  b.search_begin(0, 1);
  pass(59);
  b.work_begin(0, 0);
  pass(61);
  auto const r = b.report();
  CHECK(r.workers[0] == time_shares{.application = 11 + 37 + 61,
                                    .steal = 5 + 7,
                                    .search = 1 + 2 + 3 + 41 + 47,
                                    .application_in_join = 23 + 31 + 53,
                                    .steal_in_join = 19,
                                    .search_in_join = 13 + 17 + 29 + 59,
                                    .asleep = 43,
                                    .wall = hand_clock::now - 500});
  CHECK(r.workers[1] == time_shares{.search = hand_clock::now - 500, .wall = hand_clock::now - 500});
  CHECK(r.total().wall == 2 * (hand_clock::now - 500));
  check_identity(r);

  pass(100);
  b.sleep(1);
  pass(1);
  auto const later = b.report() - r;
  CHECK(later.workers[0] == time_shares{.application = 101, .wall = 101});
  CHECK(later.workers[1] == time_shares{.search = 100, .asleep = 1, .wall = 101});
  b.start(1);
  CHECK(b.report().workers.size() == 1);
  CHECK(b.report().total() == time_shares{});
}

TEST_CASE("time_breakdown: a clock that goes back costs no identity", "[time_breakdown]") {
  hand_clock::now = 1000;
  by_hand b;
  b.start(1);
  hand_clock::now = 900;  // another processor's
  b.work_begin(0, 0);
  hand_clock::now = 1010;
  b.sleep(0);
  hand_clock::now = 1015;
  CHECK(b.report().workers[0] == time_shares{.application = 10, .asleep = 5, .wall = 15});
}

TEST_CASE("time_breakdown: the table", "[time_breakdown]") {
  time_report const r{
      {{.application = 50, .steal = 10, .search = 40, .wall = 100},
       {.application_in_join = 25, .steal_in_join = 5, .search_in_join = 20, .asleep = 50, .wall = 100}}};
  CHECK(r.text() ==
        "         application    steal   search in joins: app    steal   search   asleep             ticks\n"
        "0             50.00%   10.00%   40.00%         0.00%    0.00%    0.00%    0.00%               100\n"
        "1              0.00%    0.00%    0.00%        25.00%    5.00%   20.00%   50.00%               100\n"
        "all           25.00%    5.00%   20.00%        12.50%    2.50%   10.00%   25.00%               200\n");
  CHECK(r.text(0.5).find("seconds") != std::string::npos);
  CHECK(r.text(0.5).find("0.500000\nall") != std::string::npos);
  CHECK(r.text(0.5).find("1.000000\n") != std::string::npos);
}

TEST_CASE("time_breakdown: the shares of an executor add up to the time of its workers, at any moment",
          "[time_breakdown]") {
  auto const check = []<class Join>(char const* name, Join) {
    INFO(name);
    executor_with<Join> ex{heist::options{.workers = 3}};
    heist_test::watchdog guard{ex, 60s, name};
    for (int round = 0; round < 20; ++round) {
      auto const before = ex.observer().report();
      auto running = ex.submit([](auto ctx) {
        auto const tree = [](auto self, auto c, int n) -> long {
          if (n == 0) return spend(200), 1;
          auto const [a, b] =
              c.fork_join([&](auto d) { return self(self, d, n - 1); }, [&](auto d) { return self(self, d, n - 1); });
          return a + b;
        };
        return tree(tree, ctx, 9);
      });
      for (int i = 0; i < 20; ++i) check_identity(ex.observer().report());  // while it runs
      CHECK(running.get() == 512);
      auto const spent = ex.observer().report() - before;
      check_identity(spent);
      auto const all = spent.total();
      CHECK(all.application + all.application_in_join >= 512 * 200);
    }
  };
  check("park", heist::join::park{});
  check("leapfrog", heist::join::leapfrog{});
  check("wait", heist::join::spin{});
}

TEST_CASE("time_breakdown: leap-frogging shows time inside joins, parking does not", "[time_breakdown]") {
  auto const shares = []<class Join>(Join) {
    executor_with<Join, by_event> ex{heist::options{.workers = 2}};
    heist_test::watchdog guard{ex, 60s, "join"};
    ex.invoke([](auto ctx) { meet_in_the_join(ctx); });
    auto const r = ex.observer().report();
    check_identity(r);
    return r.total();
  };
  auto const leapt = shares(heist::join::leapfrog{});
  CHECK(leapt.application_in_join > 0);
  CHECK(leapt.search_in_join > 0);
  CHECK(leapt.steal_in_join > 0);
  auto const parked = shares(heist::join::park{});
  CHECK(parked.application_in_join == 0);
  CHECK(parked.steal_in_join == 0);
  CHECK(parked.search_in_join == 0);
  CHECK(parked.application > 0);
  CHECK(parked.steal > 0);
}

TEST_CASE("time_breakdown: a join that only waits shows search inside joins", "[time_breakdown]") {
  executor_with<heist::join::spin, by_event> ex{heist::options{.workers = 2}};
  heist_test::watchdog guard{ex, 60s, "wait"};
  ex.invoke([](auto ctx) {
    std::atomic<bool> stolen{false};
    using context = decltype(ctx);
    ctx.fork_join([&](context c) { fork_until(c, stolen); }, [&] { stolen = true; });
  });
  auto const all = ex.observer().report().total();
  CHECK(all.search_in_join > 0);
  CHECK(all.application_in_join == 0);
  CHECK(all.steal_in_join == 0);
}

TEST_CASE("time_breakdown: a task on top of a waiting join may park and go on elsewhere", "[time_breakdown]") {
  executor_with<heist::join::leapfrog> ex{heist::options{.workers = 2}};
  heist_test::watchdog guard{ex, 60s, "park on top"};
  for (int round = 0; round < 50; ++round) {
    ex.invoke([](auto ctx) {
      using context = decltype(ctx);
      std::atomic<bool> stolen{false}, inner_ran{false};
      ctx.fork_join([&](context c) { fork_until(c, stolen); },
                    [&](context c) {
                      stolen = true;
                      c.fork_join([&](context d) { fork_until(d, inner_ran); },
                                  [&](context d) {
                                    d.submit([] { spend(2000); }).get();
                                    inner_ran = true;
                                  });
                    });
    });
    check_identity(ex.observer().report());
  }
}

TEST_CASE("time_breakdown: beside another observer", "[time_breakdown]") {
  using both = heist::tee<heist::counters, by_event>;
  static_assert(heist::time_observer<both>);
  static_assert(!heist::time_observer<heist::counters>);
  static_assert(!heist::time_observer<heist::null_observer>);
  static_assert(!heist::time_observer<heist::tee<heist::counters, heist::counters>>);
  heist::executor<heist::policy::with_join<heist::policy::random, heist::join::leapfrog>, both> ex{
      heist::options{.workers = 2}};
  heist_test::watchdog guard{ex, 60s, "tee"};
  ex.invoke([](auto ctx) { meet_in_the_join(ctx); });
  auto const r = ex.observer().second.report();
  check_identity(r);
  CHECK(r.total().application_in_join > 0);
  CHECK(ex.observer().first.total().steals >= 1);
}
