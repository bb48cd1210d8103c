// A victim policy with place() gets the workers' positions once, before it names a victim. Policies that choose within
// a squad are notified of searches, looks and thieves, like all policies.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using namespace std::chrono_literals;
using heist::fast_random;
using heist::victim::offer;
using heist::victim::outcome;
using heist::victim::thief_view;

namespace {

std::mutex lock;
std::multiset<std::uint32_t> placed;  // workers
std::multiset<std::uint32_t> squads_seen;
std::atomic<long> too_early{0}, twice{0};

struct asks_where : heist::victim::random {
  void place(thief_view const& me, heist::topology::machine const& m, heist::topology::squads const& s) noexcept {
    std::lock_guard const guard{lock};
    placed.insert(me.self);
    squads_seen.insert(s.squad_of[me.self]);
    known = me.workers == s.squad_of.size() && m.pu_count() == 6;
    twice += named ? 1 : 0;
  }
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    named = true;
    if (!known) ++too_early;
    return heist::victim::random::next(me, random);
  }
  bool known = false, named = false;
};

/// The notifications of the policies that choose victims in a squad of two, of six workers.
struct told {
  std::atomic<long> searches{0}, looks{0}, offers{0}, steals{0}, failures{0}, thieves{0};
} near;

struct listens : heist::victim::random {
  void begin(thief_view const& me, fast_random&) noexcept { near.searches += me.workers == 2; }
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    in_squad = me.workers == 2;
    if (seen) {
      seen = needs = false;
      return last;
    }
    last = heist::victim::random::next(me, random);
    needs = last != me.self;
    return last;
  }
  bool wants_look() const noexcept { return needs; }
  void looked(std::uint32_t, offer const& what) noexcept {
    seen = true;
    near.looks += in_squad;
    near.offers += in_squad && what.tasks != 0;
  }
  void feedback(std::uint32_t, outcome what) noexcept {
    near.steals += in_squad && what == outcome::stolen;
    near.failures += in_squad && what != outcome::stolen;
  }
  void met_thief(std::uint32_t) noexcept { near.thieves += in_squad; }

  std::uint32_t last = 0;
  bool needs = false, seen = false, in_squad = false;
};

template <class Context>
long fib(Context c, long n) {
  heist_test::yield();
  if (n < 2) return n;
  auto const [a, b] = c.fork_join([=](Context d) { return fib(d, n - 1); }, [=](Context d) { return fib(d, n - 2); });
  return a + b;
}

heist::options three_by_two() {
  return {.workers = 6,
          .machine = heist::topology::parse("package:3 l3:1(size=1MiB) core:2 pu:1"),
          .squads = heist::squad_by::package};
}

}  // namespace

TEST_CASE("placed victim policies: each is told once, before it names anybody", "[sched]") {
  heist::executor<heist::policy::bundle<asks_where, heist::idle::standard>> ex{three_by_two()};
  heist_test::watchdog guard{ex, 60s};
  CHECK(ex.invoke([](auto c) { return fib(c, 12); }) == 144);
  std::lock_guard const guard_of_sets{lock};
  CHECK(placed == std::multiset<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(squads_seen == std::multiset<std::uint32_t>{0, 0, 1, 1, 2, 2});
  CHECK(too_early == 0);
  CHECK(twice == 0);
}

TEST_CASE("hierarchical: forks and submissions run, on real and on pretended machines", "[sched]") {
  auto const run = [](auto&& ex) {
    heist_test::watchdog guard{ex, 60s};
    for (heist_test::rounds rounds{20}; rounds.next();) CHECK(ex.invoke([](auto c) { return fib(c, 12); }) == 144);
    std::atomic<int> ran{0};
    for (int i = 0; i != 100; ++i) ex.post([&] { ++ran; });
    ex.wait_idle();
    CHECK(ran == 100);
  };
  using heist::executor;
  run(executor<heist::policy::hierarchical>{3});
  run(executor<heist::policy::hierarchical>{three_by_two()});
  run(executor<heist::policy::with_order<heist::policy::hierarchical, heist::order::child_first>>{three_by_two()});
}

TEST_CASE("victims within a squad: the policy is told of searches, looks, results and thieves", "[sched]") {
  using policy =
      heist::policy::bundle<listens, heist::idle::standard, heist::order::by_tier, heist::join::park, heist::tier::cab>;
  heist::executor<policy> ex{three_by_two()};
  heist_test::watchdog guard{ex, 120s};
  heist::region r{{.boundary_level = 2}};
  while (near.offers == 0 || near.steals == 0 || near.thieves == 0) {
    CHECK(ex.invoke(r, [](auto c) { return fib(c, 14); }) == 377);
  }
  CHECK(near.searches > 0);
  CHECK(near.looks > 0);
  CHECK(near.failures > 0);
}

TEMPLATE_TEST_CASE("victims within a squad: every policy does the work", "[sched]", heist::victim::hierarchical,
                   heist::victim::sampling<>, heist::victim::victim_set<>, heist::victim::sampling_victim_set<>) {
  using policy = heist::policy::bundle<TestType, heist::idle::standard, heist::order::by_tier, heist::join::park,
                                       heist::tier::cab>;
  heist::executor<policy> ex{three_by_two()};
  heist_test::watchdog guard{ex, 120s};
  heist::region r{{.boundary_level = 2}};
  for (heist_test::rounds rounds{20}; rounds.next();) CHECK(ex.invoke(r, [](auto c) { return fib(c, 12); }) == 144);
}
