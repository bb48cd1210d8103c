// Every victim policy gives the same results, and one that asks for more than names is told_samples of it.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::victim::offer;
using heist::victim::outcome;
using heist::victim::thief_view;

namespace {

std::uint64_t fib(auto ctx, unsigned n) {
  if (n < 2) return n;
  auto const [a, b] =
      ctx.fork_join([n](decltype(ctx) c) { return fib(c, n - 1); }, [n](decltype(ctx) c) { return fib(c, n - 2); });
  return a + b;
}
template <class Executor>
std::uint64_t run_fib(Executor& ex, unsigned n) {
  return ex.submit([n](typename Executor::context_type c) { return fib(c, n); }).get();
}

/// Counts of the notifications to the workers' policies.
struct told_samples {
  std::atomic<long> searches{0}, looks{0}, with_tasks{0}, deep{0}, absurd{0}, thieves{0}, itself{0};
};
told_samples now;
constexpr std::uint32_t height = 24;

/// Samples before every attempt, and keeps count.
struct watching : heist::victim::random {
  void begin(thief_view const& me, heist::fast_random&) noexcept {
    self = me.self;
    now.searches.fetch_add(1, std::memory_order_relaxed);
  }
  std::uint32_t next(thief_view const& me, heist::fast_random& random) noexcept {
    std::uint32_t const v = looked_at ? chosen : heist::victim::random::next(me, random);
    needs = !looked_at && v != me.self;
    looked_at = false;
    return v;
  }
  bool wants_look() const noexcept { return needs; }
  void looked(std::uint32_t v, offer const& what) noexcept {
    chosen = v;
    looked_at = true;
    now.looks.fetch_add(1, std::memory_order_relaxed);
    if (v == self) now.itself.fetch_add(1, std::memory_order_relaxed);
    if (what.tasks == 0) return;
    now.with_tasks.fetch_add(1, std::memory_order_relaxed);
    if (what.depth > 0) now.deep.fetch_add(1, std::memory_order_relaxed);
    if (what.depth > height) now.absurd.fetch_add(1, std::memory_order_relaxed);
  }
  void met_thief(std::uint32_t) noexcept { now.thieves.fetch_add(1, std::memory_order_relaxed); }

  std::uint32_t self = 0, chosen = 0;
  bool needs = false, looked_at = false;
};

template <class Victim, class Order>
using executor_of = heist::executor<heist::policy::bundle<Victim, heist::idle::standard, Order>>;

}  // namespace

TEMPLATE_TEST_CASE("victim policies: forks, and submissions from outside and inside, all run", "[sched]",
                   heist::victim::permuted, heist::victim::victim_set<>, (heist::victim::victim_set<1, 0>),
                   heist::victim::sampling<>, heist::victim::sampling<heist::victim::square_root_of_workers>,
                   (heist::victim::sampling<4, heist::victim::most_tasks>), heist::victim::sampling_victim_set<>) {
  for (std::size_t const workers : {1u, 2u, 5u}) {
    executor_of<TestType, heist::order::parent_first> parent_first{workers};
    executor_of<TestType, heist::order::child_first> child_first{workers};
    heist_test::watchdog guard{"every victim policy", 60s,
                               [&] { return parent_first.state_text() + child_first.state_text(); }};
    for (int i = 0; i < 20; ++i) {
      CHECK(run_fib(parent_first, 16) == 987);
      CHECK(run_fib(child_first, 16) == 987);
    }
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
      parent_first.post([&] {
        for (int k = 0; k < 10; ++k) parent_first.post([&] { ++ran; });
      });
    }
    parent_first.wait_idle();
    CHECK(ran == 1000);
  }
}

TEST_CASE("victim policies: a thief that returns to a full deque leaves nobody out", "[sched]") {
  for (std::size_t const workers : {3, 4, 16}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s};
    for (int i = 0; i != 10; ++i) {
      std::atomic<bool> begun{false}, over{false};
      std::atomic<int> left{0};
      ex.post([&] {  // its deque is never empty
        begun = true;
        while (!over) {
          for (; left < 1000; ++left) ex.post([&left] { --left; });
          std::this_thread::yield();
        }
      });
      ex.post([&] {  // waits for a task that only a thief can run
        while (!begun) std::this_thread::yield();
        ex.post([&over] { over = true; });
        while (!over) std::this_thread::yield();
      });
      ex.wait_idle();
      CHECK(left == 0);
    }
  }
}

TEST_CASE("victim policies: the ready-made bundles are policies of an executor", "[sched]") {
  heist::executor<heist::policy::sampling> sampling{2};
  heist::executor<heist::policy::victim_set> victim_set{2};
  CHECK(run_fib(sampling, 12) == 144);
  CHECK(run_fib(victim_set, 12) == 144);
}

TEMPLATE_TEST_CASE("victim policies: one that asks is told_samples what the others offer", "[sched]",
                   heist::order::parent_first, heist::order::child_first) {
  executor_of<watching, TestType> ex{4};
  heist_test::watchdog guard{"a policy that looks", 120s, [&] { return ex.state_text(); }};
  now.searches = now.looks = now.with_tasks = now.deep = now.absurd = now.thieves = now.itself = 0;
  while (now.deep < 100 || now.thieves < 10) CHECK(run_fib(ex, height) == 46368);
  CHECK(now.searches > 0);
  CHECK(now.looks >= now.with_tasks);
  CHECK(now.itself == 0);
  // The parts of an offer are not read at the same moment, so now and then they do not belong together.
  UNSCOPED_INFO(now.absurd << " of " << now.with_tasks << " looks showed a depth that is none");
  CHECK(now.absurd * 10 <= now.with_tasks);
}
