// Near squads first: how far a thief looks after how many failures, and when it looks at home again.
#include "heist/core/policy/hierarchical.hpp"

#include <algorithm>  // max
#include <cstdint>
#include <utility>  // move
#include <vector>

#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"
#include "unit/policy/victim_conformance.hpp"

using namespace heist_test;
using heist::squad_by;
using heist::topology::machine;
using heist::victim::hierarchical;

namespace {

void place(hierarchical& policy, thief_view const& me, machine const& m, squad_by level) {
  policy.place(me, m, heist::topology::make_squads(m, level, me.workers));
}

/// For each of `attempts` attempts, the farthest squad that it names: the maximum over 400 seeds. Squads have `members`
/// workers and are numbered in order of distance from worker 0.
std::vector<std::uint32_t> reach(machine const& m, squad_by level, std::uint32_t workers, std::uint32_t members,
                                 int attempts) {
  std::vector<std::uint32_t> farthest(static_cast<std::size_t>(attempts), 0);
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    fast_random random{seed};
    thief_view const me{0, workers};
    hierarchical policy;
    place(policy, me, m, level);
    for (auto& far : farthest) {
      std::uint32_t const v = policy.next(me, random);
      far = std::max(far, v / members);
      policy.feedback(v, outcome::empty);
    }
  }
  return farthest;
}

std::vector<std::uint32_t> stages(std::vector<std::pair<int, std::uint32_t>> const& runs) {
  std::vector<std::uint32_t> all;
  for (auto const& [count, squad] : runs) all.insert(all.end(), static_cast<std::size_t>(count), squad);
  return all;
}

struct place_may_throw : heist::victim::random {
  void place(thief_view const&, machine const&, heist::topology::squads const&) {}
};
struct place_accepts_nothing : heist::victim::random {
  void place() noexcept {}
};
static_assert(!heist::victim::placed_policy<heist::victim::random>);
static_assert(!heist::victim::placed_policy<place_may_throw> && !heist::victim::placed_policy<place_accepts_nothing>);
static_assert(heist::victim::victim_policy<place_may_throw> && !heist::victim::whole_victim_policy<place_may_throw>);
static_assert(!heist::victim::whole_victim_policy<place_accepts_nothing>);
static_assert(heist::victim::placed_policy<heist::victim::sampled<hierarchical, 2>>);
static_assert(!heist::victim::placed_policy<heist::victim::sampling<>>);

}  // namespace

TEST_CASE("hierarchical: on one squad, unplaced, or moved from, it is random", "[policy]") {
  thief_view const me{3, 16};
  auto const same_as_random = [&](hierarchical& policy, std::uint32_t workers) {
    fast_random random{1}, same{1};
    for (int i = 0; i != 500; ++i) {
      std::uint32_t const v = policy.next({3, workers}, random);
      REQUIRE(v == same.below(workers));
      policy.feedback(v, i % 5 == 0 ? outcome::stolen : outcome::empty);
    }
  };
  hierarchical unplaced;
  same_as_random(unplaced, 16);
  hierarchical one_squad;
  place(one_squad, me, machine_of_nodes(1, 16), squad_by::numa);
  same_as_random(one_squad, 16);
  hierarchical placed;
  place(placed, me, machine_of_nodes(4, 4), squad_by::numa);
  same_as_random(placed, 17);  // other workers than it was told of
  hierarchical const taken{std::move(placed)};
  same_as_random(placed, 16);
  place(unplaced, me, machine_of_nodes(4, 4), squad_by::numa);
  place(unplaced, me, machine_of_nodes(1, 16), squad_by::numa);
  same_as_random(unplaced, 16);
}

TEST_CASE("hierarchical: farther after so many failures, by the ratio of the machine's distances", "[policy]") {
  // Distances from node 0: 5 within its L3, then 20, 25 and 30. The attempts are 4 * 20 / 5 at home, 8 * 25 / 20 with
  // the next node, and 12 * 30 / 25 with the one after it.
  auto const nodes = machine_of_nodes(4, 4);
  CHECK(reach(nodes, squad_by::numa, 16, 4, 50) == stages({{16, 0}, {10, 1}, {14, 2}, {10, 3}}));

  // The description gives no distances, so the defaults hold: 20 to another package, 5 within a shared L3, hence 3 * 20
  // / 5.
  auto const packages = heist::topology::parse("package:3 l3:1 core:3 pu:1");
  CHECK(reach(packages, squad_by::package, 9, 3, 30) == stages({{12, 0}, {18, 2}}));

  // 3 within an L2, 5 within an L3: 2 * 5 / 3, 4 * 20 / 5.
  auto const halves = heist::topology::parse("package:2 l3:1 l2:2 core:2 pu:1");
  CHECK(reach(halves, squad_by::l2, 8, 2, 20) == stages({{3, 0}, {16, 1}, {1, 3}}));
}

TEST_CASE("hierarchical: the own squad comes first even if others are as near", "[policy]") {
  auto const m = heist::topology::parse("l3:1 core:6 pu:1");
  auto const squads = heist::topology::make_squads(m, {{0, 1, 2}, {3, 4, 5}}, 6);
  int others = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    fast_random random{seed};
    thief_view const me{4, 6};
    hierarchical policy;
    policy.place(me, m, squads);
    for (int i = 0; i != 3; ++i) CHECK(policy.next(me, random) >= 3);  // 3 * 5 / 5
    others += policy.next(me, random) < 3;
  }
  CHECK(others > 25);
}

TEST_CASE("hierarchical: no ring takes longer than a search is likely to last", "[policy]") {
  auto m = machine_of_nodes(2, 8);
  m.numa_distances = {10, 1'000'000'000'000, 1'000'000'000'000, 10};
  CHECK(reach(m, squad_by::numa, 16, 8, 40) == stages({{32, 0}, {8, 1}}));
  auto const large = machine_of_nodes(2, 40);
  CHECK(reach(large, squad_by::numa, 80, 40, 50) == stages({{40, 0}, {10, 1}}));
}

TEST_CASE("hierarchical: a squad of one is no ring, more than eight distances are eight rings", "[policy]") {
  auto const alone = machine_of_nodes(3, 1);  // 0 and 1 at first: 2 * 25 / 20 attempts
  CHECK(reach(alone, squad_by::numa, 3, 1, 6) == stages({{2, 1}, {4, 2}}));

  auto const seen = reach(machine_of_nodes(16, 1), squad_by::numa, 16, 1, 63);
  CHECK(seen.front() == 1);
  for (std::size_t i = 1; i != seen.size(); ++i) REQUIRE(seen[i] >= seen[i - 1]);
  std::vector<std::uint32_t> rings;
  for (auto const squad : seen) {
    if (rings.empty() || rings.back() != squad) rings.push_back(squad);
  }
  CHECK(rings == std::vector<std::uint32_t>{1, 2, 3, 4, 5, 6, 7, 15});
}

TEST_CASE("hierarchical: home after a steal, and not after a failed search", "[policy]") {
  thief_view const me{5, 16};  // node 1
  auto const nodes = machine_of_nodes(4, 4);
  int far_after_steal = 0, far_after_failure = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    fast_random random{seed};
    hierarchical policy;
    place(policy, me, nodes, squad_by::numa);
    for (int i = 0; i != 40; ++i) policy.feedback(policy.next(me, random), i % 2 == 0 ? outcome::empty : outcome::lost);
    for (int i = 0; i != 5; ++i) far_after_failure += policy.next(me, random) / 4 == 3;
    policy.feedback(9, outcome::stolen);
    for (int i = 0; i != 5; ++i) far_after_steal += policy.next(me, random) / 4 != 1;
  }
  CHECK(far_after_failure > 150);  // of 1000 a quarter is expected
  CHECK(far_after_steal == 0);
}

TEST_CASE("hierarchical: every 64th attempt is at everybody, however much there is at home", "[policy]") {
  thief_view const me{0, 16};
  fast_random random{3};
  hierarchical policy;
  place(policy, me, machine_of_nodes(4, 4), squad_by::numa);
  std::vector<int> named(16, 0);
  for (int i = 1; i <= 64 * 1600; ++i) {
    std::uint32_t const v = policy.next(me, random);
    if (i % 64 != 0) REQUIRE(v < 4);
    named[v] += i % 64 == 0;
    policy.feedback(v, outcome::stolen);
  }
  for (int const n : named) CHECK((n > 50 && n < 160));  // 100 are expected
}

TEST_CASE("hierarchical: distances", "[policy]") {
  auto const m = heist::topology::parse("package:2 [numa] l3:2 l2:2 core:2 pu:2");
  auto const nodes = m.numa_count();
  REQUIRE(nodes == 2);
  auto const from_first = [&](std::size_t pu) { return heist::victim::distance(m, nodes, m.pus[0], m.pus[pu]); };
  CHECK(from_first(1) == 1);    // the same core
  CHECK(from_first(2) == 3);    // the same L2
  CHECK(from_first(4) == 5);    // the same L3
  CHECK(from_first(8) == 10);   // the same memory
  CHECK(from_first(16) == 20);  // another package
  auto told = m;
  told.numa_distances = {10, 32, 31, 10};
  CHECK(heist::victim::distance(told, nodes, told.pus[0], told.pus[16]) == 32);
  CHECK(heist::victim::distance(told, nodes, told.pus[16], told.pus[0]) == 31);
  told.numa_distances = {10, 32};  // too short a table for two nodes
  CHECK(heist::victim::distance(told, nodes, told.pus[0], told.pus[16]) == 20);
}
