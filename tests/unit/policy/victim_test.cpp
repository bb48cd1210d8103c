// heist::victim: V1 and V2 for every model, and what the concept refuses.
#include "heist/core/policy/victim.hpp"

#include <cstdint>
#include <vector>

#include "heist/core/policy/policies.hpp"
#include "support/catch.hpp"

using heist::fast_random;
using heist::victim::outcome;
using heist::victim::thief_view;
using heist::victim::victim_policy;

namespace {

struct next_may_throw : heist::victim::random {
  std::uint32_t next(thief_view const&, fast_random&) { return 0; }
};
struct next_returns_int : heist::victim::random {
  int next(thief_view const&, fast_random&) noexcept { return 0; }
};
struct no_feedback {
  std::uint32_t next(thief_view const&, fast_random&) noexcept { return 0; }
};
struct cannot_move : heist::victim::random {
  cannot_move() = default;
  cannot_move(cannot_move const&) = delete;
};
struct needs_arguments : heist::victim::random {
  explicit needs_arguments(int) {}
};
/// The least that a model must be.
struct victim_archetype {
  victim_archetype() = default;
  victim_archetype(victim_archetype&&) = default;
  victim_archetype& operator=(victim_archetype&&) = default;
  std::uint32_t next(thief_view const&, fast_random&) noexcept { return 0; }
  void feedback(std::uint32_t, outcome) noexcept {}
};

static_assert(victim_policy<heist::victim::random>);
static_assert(victim_policy<victim_archetype>);
static_assert(!victim_policy<next_may_throw>, "next() must be noexcept");
static_assert(!victim_policy<next_returns_int>, "next() names a worker");
static_assert(!victim_policy<no_feedback>);
static_assert(!victim_policy<cannot_move>);
static_assert(!victim_policy<needs_arguments>);
static_assert(!victim_policy<int>);

static_assert(heist::policy::executor_policy<heist::policy::random>);
static_assert(heist::policy::executor_policy<heist::policy::bundle<victim_archetype, heist::idle::adaptive>>);
static_assert(heist::policy::executor_policy<heist::policy::with_idle<heist::policy::random, heist::idle::spinning>>);
static_assert(!heist::policy::executor_policy<heist::victim::random>, "a bundle has two parts");
static_assert(!heist::policy::executor_policy<int>);

}  // namespace

TEMPLATE_TEST_CASE("victim: V1 next() names a worker, for any number of workers", "[policy]", heist::victim::random) {
  TestType policy;
  fast_random random{11};
  for (std::uint32_t const workers : {1u, 2u, 3u, 16u, 4095u}) {
    for (std::uint32_t const self : {0u, workers - 1}) {
      for (int i = 0; i < 2000; ++i) {
        std::uint32_t const v = policy.next(thief_view{self, workers}, random);
        REQUIRE(v < workers);
        policy.feedback(v, static_cast<outcome>(i % 3));
      }
    }
  }
}

TEMPLATE_TEST_CASE("victim: V2 nobody is left out, whatever feedback says", "[policy]", heist::victim::random) {
  for (std::uint32_t const workers : {1u, 2u, 3u, 16u, 64u}) {
    for (auto const what : {outcome::stolen, outcome::empty, outcome::lost}) {
      for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        TestType policy;
        fast_random random{seed};
        std::vector<int> named(workers, 0);
        for (std::uint32_t i = 0; i < 60 * workers; ++i) {
          std::uint32_t const v = policy.next(thief_view{0, workers}, random);
          ++named.at(v);
          policy.feedback(v, what);
        }
        for (int const n : named) REQUIRE(n > 0);  // the thief's own number too: the injection queue
      }
    }
  }
}
