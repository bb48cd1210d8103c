// No lost wake-up, whatever makes a task ready. Every such source wakes sleeping workers, with random pauses around the
// moment at which they fall asleep. The tests use two to eight workers, and one CPU.
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>

#include "heist/core/base/random.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/wait_for.hpp"
#include "support/watchdog.hpp"

namespace {

using policies = std::tuple<heist::policy::random, heist::policy::cab, heist::policy::replay>;

/// Two squads where the policy has squads.
heist::options on_two_squads(std::size_t workers) {
  return {.workers = workers,
          .machine = heist::topology::parse("package:2 l3:1(size=1MiB) core:4 pu:1"),
          .squads = heist::squad_by::package,
          .stack_size = std::size_t{128} << 10};
}

void pause_for(std::int64_t nanoseconds) {
  std::int64_t const end = heist::os_env::nanoseconds() + nanoseconds;
  while (heist::os_env::nanoseconds() < end) heist::os_env::relax();
}

/// The whole process on one CPU while it lives; threads that start meanwhile inherit it.
class on_one_cpu {
 public:
  on_one_cpu() {
    REQUIRE(::sched_getaffinity(0, sizeof before_, &before_) == 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int c = 0; c < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++c) {
      if (CPU_ISSET(c, &before_)) CPU_SET(c, &one);
    }
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
  }
  on_one_cpu(on_one_cpu const&) = delete;
  on_one_cpu& operator=(on_one_cpu const&) = delete;
  ~on_one_cpu() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

struct stalls {
  std::int64_t longest = 0;
  int above_100_ms = 0;
  void add(std::int64_t nanoseconds) {
    longest = nanoseconds > longest ? nanoseconds : longest;
    above_100_ms += nanoseconds > 100'000'000;
  }
};

/// A task parks; a thread outside lets it resume, at any moment from before the park to long after.
template <class Executor>
void let_a_parked_task_go_on(Executor& ex, bool stays, std::int64_t pause) {
  heist::detail::completion come;
  std::atomic<bool> begun{false};
  auto done = ex.submit([&] {
    begun = true;
    if (stays) {
      heist::no_migrate const here;  // only its own worker may continue with it
      heist_test::wait_for(come);
    } else {
      heist_test::wait_for(come);
    }
  });
  while (!begun) heist::os_env::yield();
  pause_for(pause);
  come.complete();
  done.get();
}

/// One piece of work by way of each source; `kind` counts them through.
constexpr int kinds = 7;
template <class Executor>
void one_of_each(Executor& ex, int kind, std::int64_t pause, heist::region& r, heist::task_graph& g) {
  switch (kind) {
    case 0:  // the injection queue
      ex.submit([] {}).get();
      break;
    case 1:  // a fiber made runnable from outside
      let_a_parked_task_go_on(ex, false, pause);
      break;
    case 2:  // a worker's own list
      let_a_parked_task_go_on(ex, true, pause);
      break;
    case 3:  // a graph
      ex.run(g).get();
      break;
    case 4:  // a region: the pools between squads, if there are squads
      ex.invoke(r, [](auto c) { c.fork_join([] {}, [] {}); });
      break;
    case 5:  // a worker's deque: another worker must take it, since its owner waits without parking
      ex.invoke([&ex, pause] {
        pause_for(pause);
        std::atomic<bool> ran{false};
        ex.post([&ran] { ran = true; });
        while (!ran) heist::os_env::yield();
      });
      break;
    default:  // a worker's task stack, in the same manner
      ex.invoke([pause](auto c) {
        pause_for(pause);
        std::atomic<int> here{0};
        auto const meet = [&here] {
          ++here;
          while (here != 2) heist::os_env::yield();
        };
        c.fork_join(meet, meet);
      });
  }
}

template <class Policy>
void all_sources(std::size_t workers, int rounds, std::uint64_t seed, stalls& seen) {
  heist::executor<Policy> ex{on_two_squads(workers)};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "all sources of work"};
  heist::region r{{.boundary_level = 2}};
  heist::task_graph g;
  int ran = 0;
  auto first = g.emplace([&] { ++ran; });
  first.precede(g.emplace([&] { ++ran; }));
  heist::fast_random random{seed};
  for (int i = 0; i < rounds; ++i) {
    for (int kind = 0; kind < kinds; ++kind) {
      pause_for(random.below(i % 4 == 0 ? 200'000 : 50'000));
      std::int64_t const pause = random.below(i % 2 == 0 ? 2'000 : 50'000);
      std::int64_t const begin = heist::os_env::nanoseconds();
      one_of_each(ex, kind, pause, r, g);
      seen.add(heist::os_env::nanoseconds() - begin - pause);
    }
  }
  REQUIRE(ran == 2 * rounds);
}

/// One post at a time, on workers that fall asleep in between.
template <class Policy>
void single_posts(std::size_t workers, int rounds, std::uint64_t seed, stalls& seen) {
  heist::executor<Policy> ex{on_two_squads(workers)};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "single posts"};
  heist::fast_random random{seed};
  for (int i = 0; i < rounds; ++i) {
    pause_for(random.below(50'000));
    std::int64_t const begin = heist::os_env::nanoseconds();
    heist::park_word ran;
    ex.post([&ran] {
      ran.store(1, std::memory_order_release);
      ran.wake_one();
    });
    while (ran.load(std::memory_order_acquire) == 0) ran.wait(0);
    seen.add(heist::os_env::nanoseconds() - begin);
  }
  ex.wait_idle();
}

void report(char const* what, stalls const& seen) {
  std::printf("%s: the longest took %.1f ms, %d took more than 100 ms\n", what,
              static_cast<double>(seen.longest) * 1e-6, seen.above_100_ms);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("wake-up: every source of work wakes two to eight workers", "[stress]", policies) {
  auto const seed = heist_test::stress_seed("every source of work");
  stalls seen;
  for (std::size_t workers = 2; workers <= 8; ++workers) {
    all_sources<TestType>(workers, heist_test::stress_rounds(120), seed + workers, seen);
  }
  report("every source of work", seen);
}

TEMPLATE_LIST_TEST_CASE("wake-up: every source of work, on one CPU", "[stress]", policies) {
  auto const seed = heist_test::stress_seed("every source of work, one CPU");
  on_one_cpu const here;
  stalls seen;
  for (std::size_t const workers : {2u, 5u, 8u}) {
    all_sources<TestType>(workers, heist_test::stress_rounds(60), seed + workers, seen);
  }
  report("every source of work, one CPU", seen);
}

// A million of them with HEIST_TEST_SCALE=10.
TEST_CASE("wake-up: a hundred thousand single posts to two to eight workers, half of them on one CPU", "[stress]") {
  auto const seed = heist_test::stress_seed("single posts");
  stalls seen, on_one;
  int const rounds = heist_test::stress_rounds(50'000) / 7 + 1;
  for (std::size_t workers = 2; workers <= 8; ++workers) {
    single_posts<heist::policy::random>(workers, rounds, seed + workers, seen);
    on_one_cpu const here;
    single_posts<heist::policy::random>(workers, rounds, seed + workers + 8, on_one);
  }
  report("single posts", seen);
  report("single posts, one CPU", on_one);
}
