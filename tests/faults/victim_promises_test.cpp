// Debug builds end the program with a sentence when a victim policy breaks a promise that would starve workers or
// read past their list. Compiled with assertions whatever the build.
#undef NDEBUG

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "faults/child_process.hpp"
#include "heist/async.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using heist::fast_random;
using heist::victim::offer;
using heist::victim::thief_view;
using heist_test::run_child;

namespace {

struct names_only_itself : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random&) noexcept { return me.self; }
};

/// Three workers: never the one that works.
struct names_only_the_idle : heist::victim::random {
  static inline std::atomic<std::uint32_t> busy{0};
  std::uint32_t next(thief_view const& me, fast_random&) noexcept {
    std::uint32_t const b = busy;
    return 3 - b - (me.self == b ? (b + 1) % 3 : me.self);
  }
};

struct names_too_many : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random&) noexcept { return me.workers; }
};
/// Among four, right; within a squad of two, not.
struct names_too_many_in_a_squad : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept {
    return me.workers == 2 ? 2 : random.below(me.workers);
  }
};
struct looks_at_itself : heist::victim::random {
  std::uint32_t next(thief_view const& me, fast_random&) noexcept { return me.self; }
  bool wants_look() const noexcept { return true; }
  void looked(std::uint32_t, offer const&) noexcept {}
};

template <class Victim, class Idle = heist::idle::standard>
using executor_with = heist::executor<heist::policy::bundle<Victim, Idle>>;

/// One worker has a task for other workers and waits until it has been stolen.
template <class Executor, class Begun>
void wait_for_a_thief(Executor& ex, Begun begun) {
  ex.invoke([&] {
    begun();
    std::atomic<bool> ran{false};
    ex.post([&] { ran = true; });
    while (!ran) std::this_thread::yield();
  });
  ex.wait_idle();
}

template <class Context>
long fib(Context c, long n) {
  std::this_thread::yield();
  if (n < 2) return n;
  auto const [a, b] = c.fork_join([=](Context d) { return fib(d, n - 1); }, [=](Context d) { return fib(d, n - 2); });
  return a + b;
}

void check_ended(heist_test::child_report const& report, char const* policy, char const* promise) {
  INFO(report.text());
  CHECK(report.signal == SIGABRT);
  CHECK(report.says("the victim policy "));
  CHECK(report.says(policy));
  CHECK(report.says(promise));
}

}  // namespace

TEMPLATE_TEST_CASE("a victim policy that names only itself is named", "[faults]", heist::idle::standard,
                   heist::idle::spinning) {
  check_ended(run_child(
                  [] {
                    executor_with<names_only_itself, TestType> ex{2};
                    wait_for_a_thief(ex, [] {});
                  },
                  90s),
              "names_only_itself", "(V2)");
}

TEST_CASE("a victim policy that names only an idle worker is named", "[faults]") {
  check_ended(run_child(
                  [] {
                    executor_with<names_only_the_idle> ex{3};
                    wait_for_a_thief(
                        ex, [] { names_only_the_idle::busy = static_cast<std::uint32_t>(*heist::current_worker()); });
                  },
                  90s),
              "names_only_the_idle", "(V2)");
}

TEST_CASE("a victim policy that names a worker that does not exist is named", "[faults]") {
  check_ended(run_child([] {
                executor_with<names_too_many> ex{2};
                wait_for_a_thief(ex, [] {});
              }),
              "names_too_many", "(V1)");
}

TEST_CASE("a victim policy that names too high within a squad is named", "[faults]") {
  using policy = heist::policy::bundle<names_too_many_in_a_squad, heist::idle::standard, heist::order::by_tier,
                                       heist::join::park, heist::tier::cab>;
  check_ended(run_child([] {
                heist::executor<policy> ex{{.workers = 4,
                                            .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1"),
                                            .squads = heist::squad_by::package}};
                heist::region r{{.boundary_level = 2}};
                for (int i = 0; i != 100; ++i) ex.invoke(r, [](auto c) { return fib(c, 12); });
              }),
              "names_too_many_in_a_squad", "(V1)");
}

TEST_CASE("a victim policy that wants to look at itself is named", "[faults]") {
  check_ended(run_child([] {
                executor_with<looks_at_itself> ex{2};
                wait_for_a_thief(ex, [] {});
              }),
              "looks_at_itself", "(V4)");
}

TEMPLATE_TEST_CASE("with assertions, policies that hold their promises are left alone", "[faults]",
                   heist::victim::random, heist::victim::hierarchical, heist::victim::sampling<>,
                   heist::victim::sampling_victim_set<>) {
  auto const report = run_child([] {
    using policy = heist::policy::bundle<TestType, heist::idle::spinning>;
    heist::executor<policy> ex{{.workers = 4, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1")}};
    for (int i = 0; i != 20; ++i) {
      wait_for_a_thief(ex, [] {});
      std::this_thread::sleep_for(5ms);  // thieves fail
      CHILD_REQUIRE(ex.invoke([](auto c) { return fib(c, 12); }) == 144);
    }
  });
  INFO(report.text());
  CHECK(report.clean());
}
