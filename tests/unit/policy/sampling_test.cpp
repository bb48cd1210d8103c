// Sampling: when a thief looks, when it does not, and which victim it chooses (the paper's sections 2.1 and 5.2).
#include "heist/core/policy/sampling.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "support/catch.hpp"
#include "unit/policy/victim_conformance.hpp"

using namespace heist_test;
using heist::victim::closest_to_root;
using heist::victim::most_tasks;
using heist::victim::sampled;
using heist::victim::sampling;
using heist::victim::sampling_victim_set;
using heist::victim::square_root_of_workers;

namespace {

struct attempt {
  std::uint32_t victim;
  std::vector<std::uint32_t> looks;  ///< the workers that were looked at before it
};

/// The next attempt at another worker; `show(v)` is the offer of worker v.
template <class Policy, class Show>
attempt next_attempt(Policy& policy, thief_view const& me, fast_random& random, Show&& show) {
  attempt a{};
  for (;;) {
    a.victim = policy.next(me, random);
    if (policy.wants_look()) {
      a.looks.push_back(a.victim);
      policy.looked(a.victim, show(a.victim));
    } else if (a.victim != me.self) {
      return a;
    }
  }
}

constexpr auto by_number = [](std::uint32_t v) { return offer{v + 1, v}; };
constexpr auto empty = [](std::uint32_t) { return offer{}; };

/// Names 0, 1, 2 and so on.
struct in_turn {
  std::uint32_t next(thief_view const& me, fast_random&) noexcept { return now++ % me.workers; }
  void feedback(std::uint32_t, outcome) noexcept {}
  std::uint32_t now = 0;
};

struct no_looked : heist::victim::random {
  bool wants_look() const noexcept { return false; }
};
struct wants_look_may_throw : heist::victim::random {
  bool wants_look() const { return false; }
  void looked(std::uint32_t, offer const&) noexcept {}
};
struct wants_look_changes : heist::victim::random {
  bool wants_look() noexcept { return false; }
  void looked(std::uint32_t, offer const&) noexcept {}
};
static_assert(!heist::victim::sampling_policy<heist::victim::random>);
static_assert(!heist::victim::sampling_policy<no_looked>);
static_assert(!heist::victim::sampling_policy<wants_look_may_throw>);
static_assert(!heist::victim::sampling_policy<wants_look_changes>);
static_assert(heist::victim::victim_policy<no_looked> && !heist::victim::whole_victim_policy<no_looked>);
static_assert(!heist::victim::whole_victim_policy<wants_look_may_throw>);
static_assert(!heist::victim::offer_rank<int>);

}  // namespace

TEST_CASE("sampling: robs the best of K, of equals the first", "[policy]") {
  thief_view const me{15, 16};
  fast_random random{1};
  std::uint32_t const depth[] = {7, 3, 5, 3}, tasks[] = {1, 2, 4, 4};
  auto const show = [&](std::uint32_t v) { return offer{tasks[v], depth[v]}; };

  sampled<in_turn, 4, closest_to_root> by_depth;
  auto const a = next_attempt(by_depth, me, random, show);
  CHECK(a.looks == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(a.victim == 1);

  sampled<in_turn, 4, most_tasks> by_tasks;
  CHECK(next_attempt(by_tasks, me, random, show).victim == 2);

  sampled<in_turn, 2> two;
  auto const b = next_attempt(two, me, random, show);
  CHECK(b.looks == std::vector<std::uint32_t>{0, 1});
  CHECK(b.victim == 1);
}

TEST_CASE("sampling: not after a failed attempt, and again after a steal", "[policy]") {
  thief_view const me{15, 16};
  for (auto const failure : {outcome::empty, outcome::lost}) {
    fast_random random{2};
    sampled<in_turn, 3> policy;
    auto a = next_attempt(policy, me, random, by_number);
    CHECK(a.looks.size() == 3);
    CHECK(a.victim == 0);
    policy.feedback(a.victim, failure);
    for (std::uint32_t i = 3; i != 8; ++i) {
      a = next_attempt(policy, me, random, by_number);
      CHECK(a.looks.empty());
      CHECK(a.victim == i);  // resumes where the looks ended
      policy.feedback(a.victim, failure);
      policy.begin(me, random);  // a new search after a failure is no reason to look
    }
    policy.feedback(a.victim, outcome::stolen);
    a = next_attempt(policy, me, random, by_number);
    CHECK(a.looks == std::vector<std::uint32_t>{8, 9, 10});
  }
}

TEST_CASE("sampling: ends at an empty pool, with the best so far", "[policy]") {
  thief_view const me{15, 16};
  fast_random random{3};
  sampled<in_turn, 8> policy;
  auto const third_is_empty = [](std::uint32_t v) { return v == 2 ? offer{} : offer{1, 10 - v}; };
  auto a = next_attempt(policy, me, random, third_is_empty);
  CHECK(a.looks == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(a.victim == 1);
  policy.feedback(a.victim, outcome::stolen);
  // The first is empty: it is the only one sampled.
  a = next_attempt(policy, me, random, empty);
  CHECK(a.looks == std::vector<std::uint32_t>{3});
  CHECK(a.victim == 3);
}

TEST_CASE("sampling: the root of the number of workers, rounded down", "[policy]") {
  std::map<std::uint32_t, std::size_t> const wanted{{1, 0},  {2, 0},  {3, 0},  {4, 2},  {8, 2},     {9, 3},
                                                    {15, 3}, {16, 4}, {63, 7}, {64, 8}, {1023, 31}, {1024, 32}};
  sampled<in_turn, square_root_of_workers> kept;  // for changing numbers of workers, too
  for (auto const& [workers, looks] : wanted) {
    fast_random random{4};
    if (workers == 1) {
      CHECK(kept.next({0, 1}, random) == 0);
      CHECK_FALSE(kept.wants_look());
      continue;
    }
    thief_view const me{0, workers};
    sampled<in_turn, square_root_of_workers> unused;
    CHECK(next_attempt(unused, me, random, by_number).looks.size() == looks);
    auto const a = next_attempt(kept, me, random, by_number);
    CHECK(a.looks.size() == looks);
    kept.feedback(a.victim, outcome::stolen);
  }
  fast_random random{4};
  CHECK(next_attempt(kept, {0, 16}, random, by_number).looks.size() == 4);
}

TEST_CASE("sampling: one sample is none", "[policy]") {
  fast_random random{5}, same{5};
  sampling<1> policy;
  heist::victim::random plain;
  thief_view const me{0, 16};
  for (int i = 0; i != 1000; ++i) {
    std::uint32_t const v = policy.next(me, random);
    REQUIRE_FALSE(policy.wants_look());
    REQUIRE(v == plain.next(me, same));
    policy.feedback(v, outcome::stolen);
  }
}

TEST_CASE("sampling: every 64th time it does not look", "[policy]") {
  fast_random random{6};
  thief_view const me{15, 16};
  sampled<in_turn, 2> policy;
  std::vector<int> without;
  for (int i = 0; i != 256; ++i) {
    auto const a = next_attempt(policy, me, random, by_number);
    if (a.looks.empty()) without.push_back(i);
    policy.feedback(a.victim, outcome::stolen);
  }
  CHECK(without == std::vector<int>{63, 127, 191, 255});
}

TEST_CASE("sampling: who has least is robbed at last, however much others have", "[policy]") {
  fast_random random{7};
  thief_view const me{0, 3};
  sampled<heist::victim::permuted, 2> policy;  // looks at both others each time
  policy.begin(me, random);
  int stolen_from = 0;
  for (int i = 0; i != 64 * 64; ++i) {
    auto const a = next_attempt(policy, me, random, by_number);
    stolen_from += a.victim == 2;
    policy.feedback(a.victim, outcome::stolen);
  }
  CHECK(stolen_from > 10);
  CHECK(stolen_from < 64);
}

TEST_CASE("sampling: the master queue is named between looks, and the looks go on", "[policy]") {
  fast_random random{8};
  thief_view const me{2, 16};
  sampled<in_turn, 4> policy;
  std::vector<std::uint32_t> named;
  for (int i = 0; i != 6; ++i) {
    named.push_back(policy.next(me, random));
    if (policy.wants_look()) policy.looked(named.back(), by_number(named.back()));
  }
  CHECK(named == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 0});  // 2 is itself; 0 is robbed

  // The thief found work: the next search starts its looks again.
  sampled<in_turn, 4> other;
  for (int i = 0; i != 3; ++i) {
    std::uint32_t const v = other.next(me, random);
    if (other.wants_look()) other.looked(v, by_number(v));
  }
  other.begin(me, random);
  CHECK(next_attempt(other, me, random, by_number).looks == std::vector<std::uint32_t>{3, 4, 5, 6});
}

TEST_CASE("sampling_victim_set: nobody is looked at twice in one collection", "[policy]") {
  for (std::uint32_t const workers : {2u, 3u, 5u, 16u, 63u}) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
      fast_random random{seed};
      thief_view const me{static_cast<std::uint32_t>(seed) % workers, workers};
      sampling_victim_set<100, 12, 4> policy;
      for (int search = 0; search != 63; ++search) {  // the 64th does not look
        policy.begin(me, random);
        auto const a = next_attempt(policy, me, random, by_number);
        std::set<std::uint32_t> const seen{a.looks.begin(), a.looks.end()};
        REQUIRE(seen.size() == a.looks.size());
        REQUIRE(seen.size() == workers - 1);  // all others have work, so all of them are looked at
        REQUIRE(a.victim == *seen.begin());
        policy.feedback(a.victim, outcome::stolen);
      }
    }
  }
}

TEST_CASE("sampling_victim_set: robs within the set among thieves", "[policy]") {
  fast_random random{9};
  thief_view const me{0, 1024};
  sampling_victim_set<2, 12, 4> policy;
  policy.begin(me, random);
  std::set<std::uint32_t> stolen_from;
  for (int i = 0; i != 900; ++i) {
    auto const a = next_attempt(policy, me, random, empty);
    CHECK(a.looks.size() == (i == 0 ? 1 : 0));
    stolen_from.insert(a.victim);
    policy.feedback(a.victim, outcome::empty);
    policy.met_thief(a.victim);
  }
  CHECK(stolen_from.size() == 12);

  policy.feedback(*stolen_from.begin(), outcome::stolen);  // the set hears of it
  CHECK(stolen_from.count(next_attempt(policy, me, random, by_number).victim) == 0);
}
