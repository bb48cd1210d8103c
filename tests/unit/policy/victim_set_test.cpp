// Victim sets: the algorithm of the paper's section 2.2. (The promises of every victim policy: conformance_test.cpp.)
#include "heist/core/policy/victim_set.hpp"

#include <algorithm>  // find
#include <cstddef>    // size_t
#include <cstdint>
#include <set>
#include <type_traits>
#include <utility>  // move
#include <vector>

#include "support/catch.hpp"
#include "unit/policy/victim_conformance.hpp"

using namespace heist_test;
using heist::victim::permuted;
using heist::victim::victim_set;

namespace {

template <class Policy>
std::vector<std::uint32_t> names(Policy& policy, thief_view const& me, fast_random& random, std::size_t count) {
  std::vector<std::uint32_t> all;
  while (all.size() != count) all.push_back(policy.next(me, random));
  return all;
}

/// The next `attempts` steal attempts, all of which fail; every victim is a thief if `thieves` says so.
template <class Policy, class Thieves>
std::vector<std::uint32_t> fail(Policy& policy, thief_view const& me, fast_random& random, std::size_t attempts,
                                Thieves&& thieves) {
  std::vector<std::uint32_t> all;
  while (all.size() != attempts) {
    std::uint32_t const v = policy.next(me, random);
    if (v == me.self) continue;
    all.push_back(v);
    policy.feedback(v, outcome::empty);
    if (thieves(v)) policy.met_thief(v);
  }
  return all;
}

std::set<std::uint32_t> distinct(std::vector<std::uint32_t> const& all) {
  return {all.begin(), all.end()};
}

constexpr auto everybody = [](std::uint32_t) { return true; };

struct met_thief_may_throw : heist::victim::random {
  void met_thief(std::uint32_t) {}
};
struct search_begin_accepts_nothing : heist::victim::random {
  void begin() noexcept {}
};
static_assert(!heist::victim::thief_counting_policy<heist::victim::random>);
static_assert(!heist::victim::thief_counting_policy<met_thief_may_throw>);
static_assert(!heist::victim::search_policy<heist::victim::random>);
static_assert(!heist::victim::search_policy<search_begin_accepts_nothing>);
static_assert(!heist::victim::sampling_policy<victim_set<>>);
static_assert(heist::victim::victim_policy<met_thief_may_throw> &&
              !heist::victim::whole_victim_policy<met_thief_may_throw>);
static_assert(heist::victim::victim_policy<search_begin_accepts_nothing> &&
              !heist::victim::whole_victim_policy<search_begin_accepts_nothing>);
static_assert(std::is_nothrow_move_constructible_v<victim_set<>> && std::is_nothrow_move_assignable_v<victim_set<>>);

}  // namespace

TEST_CASE("victim_set: without thieves it goes round in one private permutation", "[policy]") {
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    fast_random random{seed};
    thief_view const me{3, 63};
    victim_set<> policy;
    policy.begin(me, random);
    auto const first = names(policy, me, random, 63);
    CHECK(distinct(first).size() == 63);
    CHECK(names(policy, me, random, 63) == first);
    orders.insert(first);
  }
  CHECK(orders.size() == 20);
}

TEST_CASE("victim_set: the start is random, the permutation stays", "[policy]") {
  fast_random random{5};
  thief_view const me{0, 16};
  permuted policy;
  policy.begin(me, random);
  auto const once = names(policy, me, random, 16);
  std::vector<int> starts(16, 0);
  for (int search = 0; search != 1600; ++search) {
    policy.begin(me, random);
    auto const lap = names(policy, me, random, 16);
    ++starts[lap[0]];
    std::size_t const turned = static_cast<std::size_t>(std::find(once.begin(), once.end(), lap[0]) - once.begin());
    for (std::size_t i = 0; i != 16; ++i) REQUIRE(lap[i] == once[(turned + i) % 16]);
  }
  for (int const n : starts) CHECK((n > 50 && n < 160));  // 100 are expected, the deviation is 9.7
}

TEST_CASE("victim_set: among thieves only, the set is W workers", "[policy]") {
  for (std::uint32_t const workers : {13u, 63u, 64u, 1024u}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      fast_random random{seed};
      thief_view const me{1, workers};
      victim_set<12, 4> policy;
      policy.begin(me, random);
      auto const tried = fail(policy, me, random, 1000, everybody);
      CHECK(distinct(tried).size() == 12);
      for (std::size_t i = 12; i != tried.size(); ++i) REQUIRE(tried[i] == tried[i - 12]);
    }
  }
}

TEST_CASE("victim_set: W and m are both to be reached", "[policy]") {
  fast_random random{9};
  thief_view const me{0, 256};
  victim_set<12, 4> policy;
  policy.begin(me, random);
  // Every tenth attempt meets a thief: the fourth at the fortieth.
  std::uint32_t n = 0;
  auto const tried = fail(policy, me, random, 400, [&](std::uint32_t) { return ++n % 10 == 0; });
  CHECK(distinct(tried).size() == 40);
  CHECK(tried[40] == tried[0]);

  policy.begin(me, random);
  n = 0;
  // Four thieves at once, then none until it has gone back.
  auto const few = fail(policy, me, random, 24, [&](std::uint32_t) { return n++ % 12 < 4; });
  CHECK(distinct(few).size() == 12);
  CHECK(few[12] == few[0]);
}

TEST_CASE("victim_set: the set is larger the fewer thieves there are", "[policy]") {
  constexpr std::uint32_t p = 1024, m = 4;
  for (std::uint32_t const t : {8u, 32u, 128u, 512u}) {
    double total = 0;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      fast_random random{seed};
      thief_view const me{p - 1, p};
      victim_set<1, m> policy;
      for (int search = 0; search != 10; ++search) {
        policy.begin(me, random);
        total +=
            static_cast<double>(distinct(fail(policy, me, random, 900, [&](std::uint32_t v) { return v < t; })).size());
        ++count;
      }
    }
    // The fourth of t thieves among p - 1 others comes, on average, at 4 p / (t + 1).
    CHECK(total / count == Approx(m * p / (t + 1.0)).epsilon(0.1));
  }
}

TEST_CASE("victim_set: a new start after 1000 failed attempts, a steal, or a new search, and not before", "[policy]") {
  fast_random random{2};
  thief_view const me{0, 1024};
  victim_set<12, 4> policy;
  policy.begin(me, random);
  auto const before = distinct(fail(policy, me, random, 1000, everybody));
  auto const after = distinct(fail(policy, me, random, 1000, everybody));
  CHECK(before.size() == 12);
  CHECK(after.size() == 12);
  CHECK(before != after);

  auto const again = distinct(fail(policy, me, random, 300, everybody));  // no new set before the 1000th
  policy.feedback(*again.begin(), outcome::stolen);
  auto const after_steal = distinct(fail(policy, me, random, 500, everybody));
  CHECK(after_steal != again);
  CHECK(distinct(fail(policy, me, random, 500, everybody)) == after_steal);

  policy.begin(me, random);
  CHECK(distinct(fail(policy, me, random, 500, everybody)) != after_steal);
}

TEST_CASE("victim_set: thieves that have only each other in their sets find the one with work", "[policy]") {
  constexpr std::uint32_t p = 64;
  constexpr std::uint32_t busy = 17;
  int isolated = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (std::uint32_t self = 0; self != p; ++self) {
      if (self == busy) continue;
      fast_random random{seed * p + self};
      thief_view const me{self, p};
      victim_set<12, 4> policy;
      policy.begin(me, random);
      auto const thieves = [](std::uint32_t v) { return v != busy; };
      if (distinct(fail(policy, me, random, 1000, thieves)).count(busy) != 0) continue;
      ++isolated;  // its first set does not contain the one with work
      int starts = 1;
      while (distinct(fail(policy, me, random, 1000, thieves)).count(busy) == 0) REQUIRE(++starts < 200);
    }
  }
  CHECK(isolated > 500);  // of 1260: it is the normal case for one thief, and bad luck for all
}

TEST_CASE("victim_set: with few workers the set is everybody", "[policy]") {
  for (std::uint32_t const workers : {1u, 2u, 3u, 12u}) {
    fast_random random{workers};
    thief_view const me{0, workers};
    victim_set<12, 4> policy;
    policy.begin(me, random);
    for (int lap = 0; lap != 50; ++lap) {
      std::set<std::uint32_t> named;
      for (std::uint32_t i = 0; i != workers; ++i) {
        CHECK(policy.wraps() == (i == 0 && lap != 0));
        std::uint32_t const v = policy.next(me, random);
        named.insert(v);
        if (v != me.self) policy.met_thief(v);
      }
      CHECK(named.size() == workers);
    }
  }
}

TEST_CASE("victim_set: wraps() is true when the set is through", "[policy]") {
  fast_random random{3};
  thief_view const me{0, 1024};
  victim_set<12, 4> policy;
  policy.begin(me, random);
  CHECK_FALSE(policy.wraps());
  fail(policy, me, random, 11, everybody);
  CHECK_FALSE(policy.wraps());
  fail(policy, me, random, 1, everybody);
  CHECK(policy.wraps());
}

TEST_CASE("victim_set: without begin(), or after it was moved from, it draws at random", "[policy]") {
  fast_random random{8}, same{8};
  thief_view const me{0, 100};
  victim_set<> policy;
  for (int i = 0; i != 100; ++i) REQUIRE(policy.next(me, random) == same.below(100));
  policy.begin(me, random);
  victim_set<> const taken = std::move(policy);
  same = random;
  for (int i = 0; i != 100; ++i) REQUIRE(policy.next(me, random) == same.below(100));  // moved from, and usable
  policy.begin(me, random);
  CHECK(distinct(names(policy, me, random, 100)).size() == 100);
}
