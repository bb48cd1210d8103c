// No lost wake-up: single tasks posted to workers that are falling asleep, with random pauses, all idle policies.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <type_traits>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

template <class Idle>
using with = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;

void pause_for(std::chrono::nanoseconds time) {
  auto const end = clock_type::now() + time;
  while (clock_type::now() < end) heist::os_env::relax();
}

/// Posts one task at a time and waits until it has run. Returns the longest time that one took.
template <class Executor>
std::chrono::nanoseconds single_posts(Executor& ex, int rounds, std::uint64_t seed) {
  heist_test::watchdog guard{"single posts", std::chrono::seconds{heist_test::stress_limit(60)},
                             [&] { return ex.state_text(); }};
  heist::fast_random random{seed};
  std::chrono::nanoseconds longest{0};
  for (int i = 0; i < rounds; ++i) {
    pause_for(std::chrono::nanoseconds{random.below(i % 2 == 0 ? 50000 : 250000)});
    heist::park_word ran;
    auto const start = clock_type::now();
    ex.post([&ran] {
      ran.store(1, std::memory_order_release);
      ran.wake_one();
    });
    while (ran.load(std::memory_order_acquire) == 0) ran.wait(0);
    auto const took = clock_type::now() - start;
    if (took > longest) longest = took;
  }
  ex.wait_idle();
  return longest;
}

/// A task that posts another after a random pause, on and on: the push comes from a worker, and a thief must wake.
template <class Executor>
void chain_of_pushes(Executor& ex, int rounds, std::uint64_t seed) {
  heist_test::watchdog guard{"chain of pushes", std::chrono::seconds{heist_test::stress_limit(60)},
                             [&] { return ex.state_text(); }};
  heist::fast_random random{seed};
  // The pushing task holds its worker until another worker has run the pushed task.
  ex.invoke([&] {
    for (int i = 0; i < rounds; ++i) {
      pause_for(std::chrono::nanoseconds{random.below(i % 2 == 0 ? 50000 : 250000)});
      std::atomic<bool> ran{false};
      ex.post([&ran] { ran = true; });
      for (unsigned spins = 1; !ran; ++spins) {
        if (spins % 64 == 0) heist::os_env::yield();
        heist::os_env::relax();
      }
    }
  });
  ex.wait_idle();
}

}  // namespace

#define ALL_IDLE_POLICIES heist::idle::adaptive, heist::idle::spinning, heist::idle::bws, heist::idle::standard

TEMPLATE_TEST_CASE("wake-up: single posts from outside all run", "[stress]", ALL_IDLE_POLICIES) {
  auto const seed = heist_test::stress_seed("single posts");
  for (std::size_t workers = 1; workers <= 8; ++workers) {
    with<TestType> ex{workers};
    auto const longest = single_posts(ex, heist_test::stress_rounds(workers <= 3 ? 2000 : 500), seed + workers);
    std::printf("  %zu workers: longest %.3f ms\n", workers,
                std::chrono::duration<double, std::milli>{longest}.count());
  }
}

TEMPLATE_TEST_CASE("wake-up: single pushes from a busy worker are stolen and run", "[stress]", ALL_IDLE_POLICIES) {
  auto const seed = heist_test::stress_seed("chain of pushes");
  // Thieves of `balanced` never yield: with more workers than cores each push waits for a time slice.
  int const rounds = std::is_same_v<TestType, heist::idle::bws> ? 100 : 1500;
  for (std::size_t const workers : {2u, 3u, 8u}) {
    with<TestType> ex{workers};
    chain_of_pushes(ex, heist_test::stress_rounds(rounds), seed + workers);
  }
}

TEMPLATE_TEST_CASE("wake-up: on a single CPU nothing is lost either", "[stress]", ALL_IDLE_POLICIES) {
  auto const seed = heist_test::stress_seed("single CPU");
  cpu_set_t before;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (CPU_ISSET(c, &before)) {
      CPU_SET(c, &one);
      break;
    }
  }
  REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  {
    with<TestType> ex{3};
    static_cast<void>(single_posts(ex, heist_test::stress_rounds(600), seed));
    chain_of_pushes(ex, heist_test::stress_rounds(std::is_same_v<TestType, heist::idle::bws> ? 50 : 300), seed);
  }
  REQUIRE(::sched_setaffinity(0, sizeof before, &before) == 0);
}
