// CATS measures tasks that wait: it counts a task's own work once, and no work of tasks that run during the wait.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include "heist/async.hpp"
#include "heist/graph.hpp"
#include "heist/region.hpp"
#include "heist/sync.hpp"
#include "heist/tiers.hpp"
#include "support/texts.hpp"
#include "support/yield.hpp"
#include "unit/fork/tiers.hpp"
#include "unit/fork/told_counters.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::kib;
using heist_test::mib;
using heist_test::slow;
using heist_test::told_counters;

namespace {

using counted = heist_test::measured_by<told_counters>;

/// Runs while a measured task waits, and touches more data than all measured tasks.
void disturb() {
  heist_test::yield();
  told_counters::touch(64 * mib);
  heist_test::yield();
}

/// A tree of 63 tasks, whose 32 leaves touch 256 KiB each, half of it before they wait. All tasks wait.
template <class Context, class Wait>
long tree(Context c, Wait const& wait, int depth = 5) {
  if (depth == 0) {
    told_counters::touch(128 * kib);
    wait(c);
    told_counters::touch(128 * kib);
    return 1;
  }
  wait(c);
  auto const down = [&](Context d) { return tree(d, wait, depth - 1); };
  auto const [x, y] = c.fork_join(down, down);
  wait(c);
  return x + y;
}

/// 32 leaves of 256 KiB, 1 MiB of cache.
template <class Executor, class Wait>
void measures_the_tree(Executor& ex, Wait const& wait) {
  for (int round = 0; round < (slow ? 1 : 4); ++round) {
    region r;
    CHECK(ex.invoke(r, [&](auto c) { return tree(c, wait); }) == 32);
    auto const& p = r.profile();
    INFO(p.text());
    REQUIRE(p.size() == 63);
    CHECK(p[0].soid_bytes == 8 * mib);
    CHECK(p[0].own_bytes == 0);
    std::uint64_t most = 0;
    for (std::uint32_t i = 0; i < p.size(); ++i) most = std::max(most, p[i].own_bytes);
    CHECK(most == 256 * kib);
    CHECK(p.count(heist::task_tier::leaf_inter) == 8);
    CHECK(heist_test::all_free(ex));
  }
}

template <class Policy = counted>
struct measured_executor {
  heist::executor<Policy> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
};

}  // namespace

TEST_CASE("CATS measures: tasks that wait for futures", "[fork]") {
  measured_executor on;
  measures_the_tree(on.ex, [](auto c) { c.submit(disturb).get(); });
  measures_the_tree(on.ex, [](auto c) {
    heist::shared_future<void> const f = c.submit(disturb).share();
    f.wait();
  });
  measures_the_tree(on.ex, [](auto c) {
    auto f = c.submit(disturb);
    static_cast<void>(f.wait_for(100us));  // blocks the worker
    f.get();
  });
}

TEST_CASE("CATS measures: tasks that wait for runs of graphs, and for limiters in them", "[fork]") {
  measured_executor on;
  heist::limiter one{1};
  measures_the_tree(on.ex, [&one](auto c) {
    heist::task_graph g;
    auto first = g.emplace(disturb);
    first.limit(one);  // of all tasks that wait one at a time goes on
    first.precede(g.emplace(disturb));
    c.run(g).wait();
  });
}

TEST_CASE("CATS measures: tasks that wait for another executor, and enter a region there", "[fork]") {
  measured_executor on;
  heist::executor<counted> other{heist_test::two_by_two()};
  on.guard.watch(other);
  measures_the_tree(on.ex, [&other](auto) { other.submit(disturb).get(); });
  measures_the_tree(on.ex, [&other](auto) {
    region inner{{.boundary_level = 2}};
    other.invoke(inner, [](auto d) {
      disturb();
      return heist_test::fib(d, 3);
    });
  });
}

TEST_CASE("CATS measures: calls that block, and locks", "[fork]") {
  measured_executor on;
  measures_the_tree(on.ex, [](auto c) { c.blocking(disturb); });
  heist::mutex locked;
  measures_the_tree(on.ex, [&locked](auto) {
    std::lock_guard const guard{locked};
    heist_test::yield();
  });
}

TEST_CASE("CATS measures: forks without a context that wait for what was stolen", "[fork]") {
  measured_executor on;
  measures_the_tree(on.ex, [](auto c) {
    auto const f = c.submit(disturb);  // runs while the join waits
    heist::fork_join([] { heist_test::yield(); }, [] { heist_test::yield(); });
    f.wait();
  });
}

TEST_CASE("CATS measures: joins that keep their worker", "[fork]") {
  auto const waits = [](auto c) { c.submit(disturb).get(); };
  measured_executor<heist::policy::with_join<counted, heist::join::leapfrog>> leaps;
  measures_the_tree(leaps.ex, waits);
  measured_executor<heist::policy::with_join<counted, heist::join::spin>> keeps;
  measures_the_tree(keeps.ex, waits);
}

TEST_CASE("CATS measures: the time of a wait is not the task's", "[fork]") {
  heist::executor<heist_test::measured_by<heist_test::rejected_counters>> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  // The body waits twice for 20 ms and computes nothing; its children compute. On a busy machine the body may lose its
  // processor in some rounds, but not in every round.
  std::uint64_t const all = std::uint64_t{1} << 40;
  std::uint64_t least = all;
  for (int round = 0; round < 20 && least > all / 2; ++round) {
    region r{{.bytes = all}};
    ex.invoke(r, [](auto c) {
      c.submit([] { std::this_thread::sleep_for(20ms); }).get();
      c.blocking([] { std::this_thread::sleep_for(20ms); });
      auto const busy = [] {
        for (auto const until = std::chrono::steady_clock::now() + 20ms; std::chrono::steady_clock::now() < until;) {
        }
      };
      c.fork_join(busy, busy);
    });
    REQUIRE(r.profile().source() == heist::profile_source::time);
    least = std::min(least, r.profile()[0].own_bytes);
  }
  CHECK(least <= all / 2);
}

TEST_CASE("CATS says which event was counted", "[fork]") {
  measured_executor on;
  region r;
  on.ex.invoke(r, [](auto c) { return tree(c, [](auto) {}); });
  CHECK(heist_test::has(r.profile().source_note(), "lines that a test has named, times 64 bytes"));
}
