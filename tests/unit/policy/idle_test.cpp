// heist::idle: I1, I3 and the bounds of the paper, for every model, and what the concept refuses.
#include "heist/core/policy/idle.hpp"

#include <cstdint>

#include "support/catch.hpp"

using namespace heist::idle;

namespace {

struct failed_may_throw : adaptive {
  step failed() { return step::sleep; }
};
struct begin_accepts_nothing : adaptive {
  void begin() noexcept {}
};
struct no_constants {
  void begin(std::uint32_t, std::uint64_t) noexcept {}
  std::uint32_t wake_delay() noexcept { return 0; }
  step failed() noexcept { return step::sleep; }
  std::uint32_t pauses() noexcept { return 0; }
};
struct archetype {
  archetype() = default;
  archetype(archetype&&) = default;
  archetype& operator=(archetype&&) = default;
  static constexpr bool never_sleeps = false, keeps_a_thief = false, wakes_on_push = true;
  static constexpr int helpers = 0;
  void begin(std::uint32_t, std::uint64_t) noexcept {}
  std::uint32_t wake_delay() noexcept { return 0; }
  step failed() noexcept { return step::sleep; }
  std::uint32_t pauses() noexcept { return 0; }
};

static_assert(idle_policy<archetype>);
static_assert(!idle_policy<failed_may_throw>);
static_assert(!idle_policy<begin_accepts_nothing>);
static_assert(!idle_policy<no_constants>);
static_assert(!idle_policy<int>);

constexpr std::uint64_t never_worked = ~std::uint64_t{0};

}  // namespace

#define ALL_IDLE_POLICIES adaptive, spinning, bws, standard

TEMPLATE_TEST_CASE("idle: I1 a search ends after finitely many failures, or never sleeps", "[policy]",
                   ALL_IDLE_POLICIES) {
  TestType policy;
  for (std::uint32_t const workers : {1u, 2u, 16u, 4095u}) {
    for (int search = 0; search < 5; ++search) {  // begin() starts every search afresh
      policy.begin(workers, search == 0 ? never_worked : 10);
      int failures = 1;
      while (failures < 100000 && policy.failed() != step::sleep) ++failures;
      if (TestType::never_sleeps) {
        REQUIRE(failures == 100000);
      } else {
        REQUIRE(failures < 10000);
      }
    }
  }
}

TEMPLATE_TEST_CASE("idle: the rules do not contradict each other", "[policy]", ALL_IDLE_POLICIES) {
  // At least one rule must bring pushed work to sleeping thieves.
  CHECK((TestType::never_sleeps || TestType::keeps_a_thief || TestType::wakes_on_push));
  CHECK_FALSE((TestType::keeps_a_thief && TestType::wakes_on_push));
}

TEMPLATE_TEST_CASE("idle: I3 wake_delay and pauses are bounded, whatever was stolen", "[policy]", ALL_IDLE_POLICIES) {
  TestType policy;
  for (int search = 0; search < 1000; ++search) {
    policy.begin(2, search % 100 == 0 ? never_worked : 1);
    REQUIRE(policy.wake_delay() <= 1000);
    for (int i = 0; i < 300 && policy.failed() != step::sleep; ++i) REQUIRE(policy.pauses() <= 1000);
  }
}

TEST_CASE("idle: adaptive yields after STEAL_BOUND = 2(W + 1) failures and sleeps YIELD_BOUND = 100 later",
          "[policy]") {
  for (std::uint32_t const workers : {1u, 2u, 16u}) {
    adaptive policy;
    policy.begin(workers, never_worked);
    std::uint32_t searches = 0, yields = 0;
    for (step s = policy.failed(); s != step::sleep; s = policy.failed()) {
      if (s == step::search) {
        REQUIRE(yields == 0);
        ++searches;
      } else {
        REQUIRE(s == step::yield);
        ++yields;
      }
    }
    CHECK(searches == 2 * (workers + 1) - 1);
    CHECK(yields == 99);
  }
}

TEST_CASE("idle: bws sleeps after SleepThreshold = 64 failures and yields once before", "[policy]") {
  bws policy;
  policy.begin(4, never_worked);
  for (int i = 1; i < 63; ++i) REQUIRE(policy.failed() == step::search);
  CHECK(policy.failed() == step::yield);
  CHECK(policy.failed() == step::sleep);
  CHECK(bws::helpers == 2);
}

namespace {

/// How many attempts a search makes, but for those without a pause, until it ends in a sleep of so many ticks.
int attempts_then_sleep(standard& policy, std::uint64_t ticks) {
  policy.begin(2, never_worked);
  int attempts = 1;
  for (step s = policy.failed(); s != step::sleep; s = policy.failed())
    if (s != step::search) ++attempts;
  policy.slept(ticks);
  return attempts;
}

}  // namespace

TEST_CASE("idle: standard searches longer after a short sleep, and less often so where that is in vain", "[policy]") {
  constexpr std::uint64_t briefly = 1000, long_asleep = 1'000'000'000;
  standard policy;
  int const usual = attempts_then_sleep(policy, long_asleep);
  CHECK(attempts_then_sleep(policy, long_asleep) == usual);
  CHECK(attempts_then_sleep(policy, briefly) == usual);

  // It meets work late in the longer search, every time: it stays with it.
  for (int i = 0; i != 5; ++i) {
    policy.begin(2, 1'000'000);
    for (int k = 0; k != 3 * usual; ++k) CHECK(policy.failed() != step::sleep);
  }
  CHECK(attempts_then_sleep(policy, briefly) == 4 * usual);

  // If longer searches find nothing, one short sleep in a row changes nothing, then three, seven and so on, at last
  // 255.
  for (int forgone : {1, 3, 7, 15, 31, 63, 127, 255, 255}) {
    for (int i = 0; i != forgone; ++i) CHECK(attempts_then_sleep(policy, briefly) == usual);
    CHECK(attempts_then_sleep(policy, briefly) == usual);
    CHECK(attempts_then_sleep(policy, briefly) == 4 * usual);
  }

  // After a longer search that found work, the next short sleep counts at once. A longer search that found nothing
  // failed, even if it did not end in a sleep.
  for (bool found : {false, true}) {
    for (int i = 0; i != 256; ++i) attempts_then_sleep(policy, briefly);
    policy.begin(2, never_worked);
    for (int k = 0; k != 3 * usual; ++k) CHECK(policy.failed() != step::sleep);
    policy.begin(2, found ? 1'000'000 : never_worked);
    int longer = 1;
    for (step s = policy.failed(); s != step::sleep; s = policy.failed())
      if (s != step::search) ++longer;
    CHECK(longer == 4 * usual);
    policy.slept(briefly);
    int before_longer = 0;
    while (attempts_then_sleep(policy, briefly) == usual) ++before_longer;
    CHECK(before_longer == (found ? 2 : 256));
  }
  standard another;
  CHECK(attempts_then_sleep(another, 600'000) == usual);
  CHECK(attempts_then_sleep(another, 599'999) == usual);
  CHECK(attempts_then_sleep(another, briefly) == 4 * usual);
}

TEST_CASE("idle: under standard a worker that has been woken asks as many as there are before it pauses", "[policy]") {
  for (std::uint32_t workers : {2u, 64u}) {
    standard policy;
    policy.begin(workers, never_worked);
    CHECK(policy.failed() == step::pause);
    policy.slept(1'000'000'000);
    policy.begin(workers, never_worked);
    for (std::uint32_t i = 0; i != 2 * (workers + 1); ++i) CHECK(policy.failed() == step::search);
    CHECK(policy.failed() == step::pause);
    policy.begin(workers, never_worked);  // it has not slept since
    CHECK(policy.failed() == step::pause);
  }
}

TEST_CASE("idle: standard holds back after poor booties only, and forgets after a rich one", "[policy]") {
  standard policy;
  policy.begin(2, never_worked);
  CHECK(policy.wake_delay() == 0);
  policy.begin(2, 1);
  auto const first = policy.wake_delay();
  CHECK(first > 0);
  policy.begin(2, 1);
  CHECK(policy.wake_delay() == 2 * first);
  policy.begin(2, 1'000'000);
  CHECK(policy.wake_delay() == 0);
}
