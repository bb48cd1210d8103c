// heist::os_env: fences that order a store before a later load, alone and as an asymmetric pair.
#include "heist/core/base/env.hpp"

#include <atomic>
#include <thread>

#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"

using heist::os_env;

namespace {

/// Store buffering (Dekker): each thread stores, fences, loads the other's. Counts the rounds in which both loads
/// missed the other's store.
template <class LeftFence, class RightFence>
int both_missed(int most, LeftFence left, RightFence right) {
  constexpr int over = -1;
  alignas(64) std::atomic<int> x{0};
  alignas(64) std::atomic<int> y{0};
  alignas(64) std::atomic<int> turn{0};
  alignas(64) std::atomic<int> ready{0};
  int seen_by_other = 0;
  std::thread other{[&] {
    for (int i = 1;; ++i) {
      int now;
      for (int spins = 1; (now = turn.load(std::memory_order_acquire)) != i; ++spins) {
        if (now == over) return;
        if (spins % 256 == 0) os_env::yield();
        os_env::relax();
      }
      y.store(i, std::memory_order_relaxed);
      right();
      seen_by_other = x.load(std::memory_order_relaxed);
      ready.store(i, std::memory_order_release);
    }
  }};
  int missed = 0;
  heist_test::rounds rounds{most};
  while (rounds.next()) {
    int const i = rounds.begun();
    turn.store(i, std::memory_order_release);
    x.store(i, std::memory_order_relaxed);
    left();
    int const seen = y.load(std::memory_order_relaxed);
    for (int spins = 0; ready.load(std::memory_order_acquire) != i; ++spins) {
      if (spins % 256 == 255) os_env::yield();
      os_env::relax();
    }
    missed += seen != i && seen_by_other != i;
  }
  turn.store(over, std::memory_order_release);
  other.join();
  return missed;
}

}  // namespace

TEST_CASE("os_env: a full fence on both sides orders store before load", "[base]") {
  heist_test::watchdog guard{"full fences", std::chrono::seconds{60}};
  int const rounds = heist::under_tsan || heist::under_asan ? 20000 : 100000;
  auto const fence = [] { os_env::fence(std::memory_order_seq_cst); };
  CHECK(both_missed(rounds, fence, fence) == 0);
}

TEST_CASE("os_env: a light fence and a heavy fence together order store before load", "[base]") {
  heist_test::watchdog guard{"asymmetric fences", std::chrono::seconds{60}};
  int const rounds = heist::under_tsan || heist::under_asan ? 10000 : 50000;
  auto const light = [] { os_env::light_fence(); };
  auto const heavy = [] { os_env::heavy_fence(); };
  SECTION("before prepare()") {
    CHECK(both_missed(rounds, light, heavy) == 0);
  }
  SECTION("after prepare()") {
    os_env::prepare();
    os_env::prepare();  // any number of times
    CHECK(both_missed(rounds, light, heavy) == 0);
    CHECK(both_missed(rounds, heavy, light) == 0);
  }
}

TEST_CASE("os_env: ticks never run backwards on one thread", "[base]") {
  std::uint64_t last = os_env::ticks();
  for (int i = 0; i < 10000; ++i) {
    std::uint64_t const now = os_env::ticks();
    REQUIRE(static_cast<std::int64_t>(now - last) >= 0);
    last = now;
  }
}
