// The CPU time of workers without work: none that can be measured. And the CPU time of workers that get one task at a
// time. The tests measure only the program's own CPU time, so a loaded machine changes nothing.
#include <sys/resource.h>

#include <algorithm>  // min
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "heist/executor.hpp"
#include "heist/policy.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/tools/observe/counters.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

namespace {

using heist_test::slow;

struct usage {
  double cpu;     ///< seconds
  long switches;  ///< of context
};

usage so_far() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  auto const seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return {seconds(u.ru_utime) + seconds(u.ru_stime), u.ru_nvcsw + u.ru_nivcsw};
}

template <class Policy, class Idle>
using counted = heist::executor<heist::policy::with_idle<Policy, Idle>, heist::counters>;

/// Some work, so that all workers have been awake.
template <class Executor>
void wake_up(Executor& ex) {
  for (int i = 0; i < 100; ++i) ex.post([] {});
  ex.wait_idle();
}

/// One task at a time, from outside.
template <class Executor>
heist::event_counts ping_pong(Executor& ex, int rounds) {
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(60)}, "ping-pong"};
  auto const before = ex.observer().total();
  for (int i = 0; i < rounds; ++i) {
    ex.submit([] {}).get();
    if (i % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds{100});
  }
  ex.wait_idle();
  auto now = ex.observer().total();
  now.wakes -= before.wakes;
  now.sleeps -= before.sleeps;
  now.tasks -= before.tasks;
  return now;
}

}  // namespace

TEST_CASE("idle: 24 workers of six executors use less than half a per cent of a core in ten seconds", "[stress]") {
  using heist::policy::random;
  counted<random, heist::idle::standard> a{heist::options{.workers = 4}};
  counted<random, heist::idle::adaptive> b{heist::options{.workers = 4}};
  counted<random, heist::idle::bws> c{heist::options{.workers = 4}};
  heist::executor<heist::policy::cab, heist::counters> d{heist::options{.workers = 4}};
  heist::executor<heist::policy::cats, heist::counters> e{heist::options{.workers = 4}};
  heist::executor<heist::policy::replay, heist::counters> f{heist::options{.workers = 4}};
  wake_up(a), wake_up(b), wake_up(c), wake_up(d), wake_up(e), wake_up(f);
  auto const wakes = [&] {
    return a.observer().total().wakes + b.observer().total().wakes + c.observer().total().wakes +
           d.observer().total().wakes + e.observer().total().wakes + f.observer().total().wakes;
  };
  auto const asleep = [&] {
    std::string const text =
        a.state_text() + b.state_text() + c.state_text() + d.state_text() + e.state_text() + f.state_text();
    std::size_t n = 0;
    for (auto at = text.find("asleep"); at != std::string::npos; at = text.find("asleep", at + 1)) ++n;
    return n;
  };
  heist_test::watchdog guard{"idle workers", std::chrono::seconds{60}};
  while (asleep() != 24) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  auto const notified = wakes();
  usage const before = so_far();
  int const seconds = std::min(10, heist_test::stress_rounds(10));
  std::this_thread::sleep_for(std::chrono::seconds{seconds});
  usage const now = so_far();
  std::printf("idle for %d s, 24 workers: %.2f ms of CPU, %ld context switches\n", seconds,
              (now.cpu - before.cpu) * 1e3, now.switches - before.switches);
  CHECK(wakes() == notified);  // no worker has woken up
  CHECK(asleep() == 24);
  if (slow) return;  // the sanitizers have threads of their own
  CHECK(now.cpu - before.cpu < 0.050);
  CHECK(now.switches - before.switches < 100);
}

TEMPLATE_TEST_CASE("idle: a single task wakes few of eight sleepers", "[stress]", heist::idle::standard,
                   heist::idle::adaptive, heist::idle::bws) {
  counted<heist::policy::random, TestType> ex{heist::options{.workers = 8}};
  wake_up(ex);
  int const rounds = heist_test::stress_rounds(2000);
  auto const c = ping_pong(ex, rounds);
  std::printf("%d single tasks: %llu wakes\n", rounds, static_cast<unsigned long long>(c.wakes));
  CHECK(c.tasks == static_cast<std::uint64_t>(rounds));
  // One for the task; the paper's policies wake another one, which is to be the thief, and BWS two helpers more.
  std::uint64_t const most = TestType::wakes_on_push ? 1 : 2 + TestType::helpers;
  CHECK(c.wakes <= most * static_cast<std::uint64_t>(rounds) + 16);
}
