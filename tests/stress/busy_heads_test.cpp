// Two tiers, with heads of squads away: free heads take the tasks that wait between squads, in any pool. No free
// head sleeps while such a task waits.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

namespace {

constexpr std::size_t squads = 4, members = 2, workers = squads * members;

using policies = std::tuple<heist::policy::cab, heist::policy::with_idle<heist::policy::cab, heist::idle::adaptive>>;

/// Keeps the head of each of the named squads away, in a task of no region, until it is let go.
template <class Executor>
class away {
 public:
  away(Executor& ex, std::vector<bool> const& which) : ex_{ex} {
    // A task cannot choose its worker: every worker gets one, and only the right ones stay.
    int kept = 0;
    for (bool const w : which) kept += w;
    for (std::size_t i = 0; i < workers; ++i) {
      ex_.post([this, which](auto c) {
        std::size_t const squad = c.squad_id();
        bool const stays = c.worker_id() == lowest_of(squad) && which[squad];
        ++away_;
        ++arrived_;
        while (!all_) std::this_thread::yield();
        if (stays) {
          while (!back_) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        --away_;
      });
    }
    while (arrived_ != static_cast<int>(workers)) std::this_thread::yield();  // each on a worker of its own
    all_ = true;
    while (away_ != kept) std::this_thread::yield();
  }
  away(away const&) = delete;
  away& operator=(away const&) = delete;
  ~away() {
    back_ = true;
    ex_.wait_idle();
  }
  int count() const { return away_; }

 private:
  /// The head of a squad is the first of its members.
  static std::size_t lowest_of(std::size_t squad) { return squad * members; }

  Executor& ex_;
  std::atomic<int> away_{0}, arrived_{0};
  std::atomic<bool> all_{false}, back_{false};
};

template <class Context>
long tree(Context c, int levels) {
  if (levels == 0) return 1;
  auto const [a, b] =
      c.fork_join([=](Context d) { return tree(d, levels - 1); }, [=](Context d) { return tree(d, levels - 1); });
  return a + b;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("busy heads: regions end while the heads of other squads are away", "[stress]", policies) {
  heist::executor<TestType> ex{{.workers = workers,
                                .machine = heist::topology::parse("package:4 l3:1(size=1MiB) core:2 pu:1"),
                                .squads = heist::squad_by::package,
                                .stack_size = std::size_t{128} << 10}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "busy heads"};
  REQUIRE(ex.squad_count() == squads);
  heist::region kept{{.boundary_level = 4}};  // its squads remembered: their tasks are pinned there the next time
  REQUIRE(ex.invoke(kept, [](auto c) { return tree(c, 6); }) == 64);
  for (int round = heist_test::stress_rounds(15); round > 0; --round) {
    for (unsigned mask = 0; mask != (1u << squads) - 1; ++mask) {  // at least one head is there
      std::vector<bool> which;
      for (std::size_t s = 0; s < squads; ++s) which.push_back((mask >> s & 1) != 0);
      away<heist::executor<TestType>> const heads{ex, which};
      std::this_thread::sleep_for(std::chrono::microseconds{500});  // the other workers fall asleep
      REQUIRE(ex.invoke(kept, [](auto c) { return tree(c, 6); }) == 64);
      heist::region unused{{.boundary_level = 3}};
      REQUIRE(ex.invoke(unused, [](auto c) { return tree(c, 5); }) == 32);
      REQUIRE(heads.count() == __builtin_popcount(mask));  // they were away all the time
    }
  }
}

TEMPLATE_LIST_TEST_CASE("busy heads: with all heads away, regions end when one of them is back", "[stress]", policies) {
  heist::executor<TestType> ex{{.workers = workers,
                                .machine = heist::topology::parse("package:4 l3:1(size=1MiB) core:2 pu:1"),
                                .squads = heist::squad_by::package,
                                .stack_size = std::size_t{128} << 10}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "all heads away"};
  for (int round = heist_test::stress_rounds(30); round > 0; --round) {
    heist::region r{{.boundary_level = 3}};
    heist::future<long> sum;
    {
      away<heist::executor<TestType>> const heads{ex, std::vector<bool>(squads, true)};
      sum = ex.submit([&](auto c) { return c.invoke(r, [](auto d) { return tree(d, 5); }); });
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
      CHECK_FALSE(sum.is_ready());  // the paper's rule: members do not look at the pools between squads
    }
    REQUIRE(sum.get() == 32);
  }
}
