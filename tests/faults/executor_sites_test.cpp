// The system refuses calls of an executor, each of them and at any time. Graphs, forks, squads, regions and replays end
// with their results or with an error that states the reason. No wait hangs, no resource leaks, and the next ones are
// right.
#include "faults/interposer.hpp"
// The interposers come first.
#include "faults/interposed_files.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>
#include <thread>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "faults/sweep.hpp"
#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"

using namespace std::chrono_literals;
using heist_test::fault;
using heist_test::run_child;

namespace {

using heist_test::slow;
/// Every n up to here; the scenario that allocates least has fewer places. Races do not depend on which n it is.
constexpr long each = heist::under_tsan ? 6 : heist::under_asan ? 20 : 300;
/// Small, but frames of Clang's AddressSanitizer take 1 to 2 KiB each when they are not optimised.
constexpr std::size_t small_stack = (std::size_t{64} << 10) * (heist::under_asan ? 8 : 1);

heist::options two_by_two() {
  return {.workers = 4,
          .machine = heist::topology::parse("package:2 l3:1(size=256KiB) core:2 pu:1"),
          .squads = heist::squad_by::package,
          .stack_size = 2 * small_stack};
}

/// Forks as deep as `left`, each with a child that another worker can take; child-first, every level may need a stack.
template <class Context>
long deep(Context c, int left) {
  if (left == 0) return 1;
  auto const [a, b] = c.fork_join([=](Context d) { return deep(d, left - 1); }, [](Context) { return 1L; });
  return a + b;
}

/// A tree of 8 tasks, each with a scope of 3 children, and a wait.
template <class Context>
long tree(Context c, int left) {
  if (left == 0) {
    std::atomic<long> n{0};
    heist::scope s{c};
    for (int i = 0; i < 3; ++i) s.fork([&n](auto) { ++n; });
    s.join();
    return n;
  }
  auto const [a, b] =
      c.fork_join([=](Context d) { return tree(d, left - 1); }, [=](Context d) { return tree(d, left - 1); });
  return a + b;
}

/// A diamond, twice; tasks that wait for tasks; forks; all from outside.
void graph_and_forks() {
  std::atomic<int> ran{0};
  heist::task_graph g;
  auto a = g.emplace([&] { ++ran; }), b = g.emplace([&] { ++ran; }), c = g.emplace([&] { ++ran; }),
       d = g.emplace([&] { ++ran; });
  a.precede(b, c);
  d.succeed(b, c);
  heist::executor ex{{.workers = 2, .stack_size = small_stack}};
  ex.run_n(g, 2).get();
  CHILD_REQUIRE(ran == 8);
  CHILD_REQUIRE(ex.invoke([&](heist::context ctx) { return deep(ctx, 24); }) == 25);
  CHILD_REQUIRE(ex.invoke([&](heist::context ctx) { return tree(ctx, 3); }) == 24);
  CHILD_REQUIRE(ex.invoke([&] { return ex.submit([] { return 7; }).get(); }) == 7);
  for (int i = 0; i != 4; ++i) ex.post([&] { ++ran; });
  ex.wait_idle();
  CHILD_REQUIRE(ran == 12);
}

/// Squads; under cats the first run of the region is profiled, under replay it is recorded.
template <class Policy>
void squads_and_region() {
  heist::region r{{.branching = 2, .bytes = std::size_t{1} << 20}};
  heist::executor<Policy> ex{two_by_two()};
  for (int run = 0; run != 3; ++run) CHILD_REQUIRE(ex.invoke(r, [](auto c) { return tree(c, 3); }) == 24);
  CHILD_REQUIRE(ex.invoke([](auto c) { return deep(c, 12); }) == 13);
  CHILD_REQUIRE(ex.state_text().find("busy") == std::string::npos);
}

/// All of it, one executor after the other.
void everything() {
  graph_and_forks();
  squads_and_region<heist::policy::cab>();
  squads_and_region<heist::policy::cats>();
  squads_and_region<heist::policy::replay>();
}

/// On this machine, with threads that are bound to its PUs.
void pinned() {
  heist::executor ex{{.workers = 2, .pin = heist::pinning::pus}};
  CHILD_REQUIRE(ex.invoke([](heist::context ctx) { return tree(ctx, 3); }) == 24);
}

int overflow(int depth);
int (*volatile deeper)(int) = &overflow;  // volatile, so that no compiler sees the recursion
int overflow(int depth) {
  char volatile frame[1024] = {};
  frame[0] = static_cast<char>(depth);
  return deeper(depth + 1) + frame[0];
}

/// A task overflows its stack while `site` is refused.
heist_test::child_report overflowing(std::size_t site) {
  return run_child(
      [&] {
        fault const f{site, 1, heist_test::forever};
        heist::executor ex{{.workers = 1, .stack_size = 65536}};
        ex.invoke([] { return overflow(0); });
      },
      10s);
}

/// A deque grows, and its worker sleeps until it gives the memory back.
void idle_after_much() {
  auto const& given_back = heist_test::board().of[site_of("memory given back")].reached;
  auto const before = given_back.load();
  int const n = 20'000;
  std::atomic<int> ran{0};
  heist::executor ex{std::size_t{1}};
  ex.invoke([&] {
    for (int i = 0; i < n; ++i) ex.post([&ran] { ++ran; });
  });
  ex.wait_idle();
  CHILD_REQUIRE(ran == n);
  for (int i = 0; i < 6000 && given_back == before; ++i) std::this_thread::sleep_for(10ms);
  CHILD_REQUIRE(ex.invoke([] { return 1; }) == 1);
}

/// This thread waits, and is woken, however loaded the machine is.
void wait_and_wake() {
  heist::executor ex{std::size_t{1}};
  ex.submit([] {
      while (heist::detail::threads_that_wait().empty()) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(1ms);
    }).get();
}

}  // namespace

TEST_CASE("sites: the n-th allocation fails", "[faults]") {
  sweep_options const some{.dense = each};
  sweep("new: graph and forks", site_new, graph_and_forks, {.dense = each});
  sweep("new: cab", site_new, squads_and_region<heist::policy::cab>, some);
  sweep("new: cats", site_new, squads_and_region<heist::policy::cats>, some);
  sweep("new: replay", site_new, squads_and_region<heist::policy::replay>, some);
  sweep("new: everything, 50 in a row", site_new, everything, {.in_a_row = 50, .dense = 10});
}

TEST_CASE("sites: the n-th stack cannot be mapped, guarded, or given back", "[faults]") {
  sweep("stack mmap", site_of("stack mmap"), everything, {.dense = each});
  sweep("stack mmap, all from the n-th on", site_of("stack mmap"), everything,
        {.in_a_row = heist_test::forever, .dense = 20});
  sweep("guard madvise", site_of("guard madvise"), everything, {.dense = each, .may_reject = false});
  sweep("guard mprotect", site_of("guard mprotect"),
        [] {
          fault const old_kernel{site_of("guard madvise"), 1, heist_test::forever};
          everything();
        },
        {.dense = each});
  sweep("stack munmap", site_of("stack munmap"), everything, {.dense = each, .may_reject = false});
}

TEST_CASE("sites: the n-th thread cannot be started", "[faults]") {
  sweep("thread", site_of("thread"), everything);
  sweep("thread, all from the n-th on", site_of("thread"), everything, {.in_a_row = heist_test::forever});
}

TEST_CASE("sites: futex calls are interrupted and wake for no reason", "[faults]") {
  for (char const* const name : {"wait", "wake"}) {
    std::size_t const site = name == std::string{"wait"} ? site_of("futex wait") : site_of("futex wake");
    auto const all = [] {
      wait_and_wake();
      everything();
    };
    sweep(std::string{"futex "} + name, site, all,
          {.dense = 30, .least = slow ? 10 : 30, .most = 200, .may_reject = false});
    sweep(std::string{"futex "} + name + ", all", site, all,
          {.in_a_row = heist_test::forever, .most = 1, .may_reject = false});
    sweep(std::string{"futex "} + name + ", one in two", site,
          [site, all] {
            heist_test::detail::plans[site].one_in = 2;
            all();
          },
          {.in_a_row = 2, .most = slow ? 3 : 10, .may_reject = false});
  }
}

TEST_CASE("sites: a region's profile by counters that are refused, or fail to be read, at any time", "[faults]") {
  auto const profiled = [] {
    counting.exists = true;
    squads_and_region<heist::policy::cats>();
    CHILD_REQUIRE(counting.opened == 0);
  };
  sweep("profile: perf open", site_of("perf open"), profiled, {.may_reject = false});
  sweep("profile: perf read", site_of("perf read"), profiled, {.dense = slow ? 5 : 30, .may_reject = false});
  sweep("profile: perf read, all from the n-th on", site_of("perf read"), profiled,
        {.in_a_row = heist_test::forever, .dense = 5, .may_reject = false});
  sweep("profile: perf close", site_of("perf close"), profiled, {.may_reject = false});
  sweep("profile: new", site_new, profiled, {.dense = 10});
}

TEST_CASE("sites: the kernel has no expedited membarrier", "[faults]") {
  sweep_first_calls("membarrier register", site_of("membarrier register"), everything, {.may_reject = false});
}

TEST_CASE("sites: an expedited membarrier fails now and then, and is repeated", "[faults]") {
  sweep("membarrier", site_of("membarrier"), everything, {.dense = 20, .least = 20, .most = 60, .may_reject = false});
  sweep("membarrier, five times", site_of("membarrier"), everything,
        {.in_a_row = 5, .dense = 10, .least = 10, .most = 30, .may_reject = false});
}

TEST_CASE("sites: an expedited membarrier that was granted and is then refused for good ends the program", "[faults]") {
  auto const report = run_child(
      [] {
        heist::executor ex{2};
        fault const f{site_of("membarrier"), 1, heist_test::forever};
        for (int i = 0; i != 1000; ++i) ex.invoke([] {}), ex.wait_idle(), std::this_thread::sleep_for(1ms);
      },
      20s);
  INFO(report.text());
  CHECK(report.signal == SIGABRT);
  CHECK(report.says("membarrier"));
}

TEST_CASE("sites: no memory for noticing fork(), the executor is refused, the next one notices", "[faults]") {
  auto const report = run_child([] {
    {
      fault const f{site_of("fork handler"), 1};
      CHILD_REQUIRE(!ends_well(graph_and_forks));
      CHILD_REQUIRE(f.failed() == 1);
    }
    graph_and_forks();
    heist::executor ex{2};
    auto const grandchild = run_child(
        [&] {
          bool rejected = false;
          try {
            ex.post([] {});
          } catch (heist::executor_error const&) {
            rejected = true;
          }
          CHILD_REQUIRE(rejected);
        },
        5s);
    CHILD_REQUIRE(grandchild.clean());
  });
  must_be_clean(report, "fork handler");
}

TEST_CASE("sites: pages are larger than is usual", "[faults]") {
  sweep_first_calls("page size", site_of("page size"), everything, {.may_reject = false});
}

TEST_CASE("sites: memory cannot be given back", "[faults]") {
  sweep("memory given back", site_of("memory given back"), idle_after_much,
        {.in_a_row = heist_test::forever, .most = 1, .may_reject = false});
}

TEST_CASE("sites: the clock leaps, and nobody yields", "[faults]") {
  sweep("clock", site_of("clock"), squads_and_region<heist::policy::replay>,
        {.dense = 20, .most = 40, .may_reject = false});
  sweep("yield", site_of("yield"), everything, {.in_a_row = heist_test::forever, .most = 1, .may_reject = false});
}

TEST_CASE("sites: threads may not be bound", "[faults]") {
  sweep("affinity set", site_of("affinity set"), pinned, {.may_reject = false});
  sweep("affinity mask", site_of("affinity mask"), pinned, {.may_reject = false});
  sweep("affinity set, all", site_of("affinity set"), pinned,
        {.in_a_row = heist_test::forever, .most = 1, .may_reject = false});
}

TEST_CASE("sites: threads that wake may not be moved", "[faults]") {
  if (std::thread::hardware_concurrency() < 2) return heist_test::skipped("there is one processor");
  auto const wakes = [] {
    heist::detail::sleeper_place place;
    std::atomic<bool> sleeps{false}, may_go{false};
    std::thread sleeper{[&] {
      place.before_sleep(heist::os_env::thread_number());
      sleeps = true;
      while (!may_go) std::this_thread::yield();
      place.after_sleep(1'000'000'000);
    }};
    while (!sleeps) std::this_thread::yield();
    place.wakes(0, true);
    may_go = true;
    sleeper.join();
  };
  sweep("affinity read, waking", site_of("affinity read"), wakes, {.may_reject = false});
  sweep("affinity set, waking", site_of("affinity set"), wakes, {.may_reject = false});
}

TEST_CASE("sites: threads get no stack for signal handlers", "[faults]") {
  if (slow) return heist_test::skipped("the sanitizers have their own handler stacks");
  sweep("handler stack", site_of("handler stack"), everything, {.may_reject = false});
  sweep("handler stack off", site_of("handler stack off"), everything, {.may_reject = false});
  sweep("handler stack size", site_of("handler stack size"), everything, {.dense = 20, .may_reject = false});
}

TEST_CASE("sites: what reports an overflow may be refused, the program ends all the same", "[faults]") {
  if (slow) return heist_test::skipped("the sanitizers report overflows themselves");
  sweep_first_calls("overflow handler", site_of("overflow handler"), everything, {.may_reject = false});
  auto const silent = overflowing(site_of("overflow handler"));
  INFO(silent.text());
  CHECK(silent.signal == SIGSEGV);
  auto const mute = overflowing(site_of("overflow message"));
  INFO(mute.text());
  CHECK(mute.signal == SIGSEGV);
  auto const stubborn = overflowing(site_of("overflow handler off"));
  INFO(stubborn.text());
  CHECK_FALSE(stubborn.timed_out);
  CHECK(stubborn.signal != 0);
  CHECK(stubborn.says("has overflowed its fiber's stack"));
}
