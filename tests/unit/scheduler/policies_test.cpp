// Every idle policy gives the same results; only how workers wait differs.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "heist/executor.hpp"
#include "support/asleep.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist_test::asleep;

namespace {

template <class Idle>
using with = heist::executor<heist::policy::with_idle<heist::policy::random, Idle>>;

double cpu_seconds() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  auto const seconds = [](timeval t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(u.ru_utime) + seconds(u.ru_stime);
}

/// Seconds of the processor used while nothing happens for so long: the least of several times, since a machine that serves
/// others may charge their time to us.
double least_used(std::chrono::milliseconds time) {
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i != 5 && least >= 0.020; ++i) {
    double const before = cpu_seconds();
    std::this_thread::sleep_for(time);
    least = std::min(least, cpu_seconds() - before);
  }
  return least;
}

long context_switches() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return u.ru_nvcsw + u.ru_nivcsw;
}

}  // namespace

#define ALL_IDLE_POLICIES heist::idle::adaptive, heist::idle::spinning, heist::idle::bws, heist::idle::standard
#define SLEEPING_IDLE_POLICIES heist::idle::adaptive, heist::idle::bws, heist::idle::standard

TEMPLATE_TEST_CASE("idle policies: submissions from outside and inside all run", "[sched]", ALL_IDLE_POLICIES) {
  for (std::size_t const workers : {1u, 2u, 5u}) {
    with<TestType> ex{workers};
    heist_test::watchdog guard{"every idle policy", 60s, [&] { return ex.state_text(); }};
    std::atomic<int> ran{0};
    for (int i = 0; i < 100; ++i) {
      ex.post([&] {
        for (int k = 0; k < 10; ++k) ex.post([&] { ++ran; });
        ex.submit([&] { ++ran; }).get();
      });
    }
    ex.wait_idle();
    CHECK(ran == 1100);
  }
}

TEMPLATE_TEST_CASE("idle policies: work that comes after a long sleep is done", "[sched]", ALL_IDLE_POLICIES) {
  with<TestType> ex{3};
  heist_test::watchdog guard{"work after sleep", 60s, [&] { return ex.state_text(); }};
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(20ms);
    CHECK(ex.submit([&] { return ex.submit([] { return 1; }).get(); }).get() == 1);
  }
}

TEMPLATE_TEST_CASE("idle policies: an idle executor uses nearly no CPU", "[sched]", SLEEPING_IDLE_POLICIES) {
  with<TestType> ex{4};
  heist_test::watchdog guard{"an idle executor", 60s, [&] { return ex.state_text(); }};
  ex.post([] {});
  ex.wait_idle();
  while (asleep(ex) != 4) std::this_thread::sleep_for(1ms);
  long const switches = context_switches();
  double const used = least_used(1s);
  std::printf("idle for 1 s: %.2f ms CPU, %ld context switches in all\n", used * 1e3, context_switches() - switches);
  if (!heist::under_tsan && !heist::under_asan) CHECK(used < 0.020);  // the sanitizers have threads of their own
}

TEST_CASE("standard: one long task alone lets the other workers sleep", "[sched]") {
  heist::executor ex{4};
  heist_test::watchdog guard{"one long task", 60s, [&] { return ex.state_text(); }};
  std::atomic<bool> over{false};
  std::atomic<bool> started{false};
  auto f = ex.submit([&] {
    started = true;
    while (!over) std::this_thread::sleep_for(5ms);  // long, and no CPU of its own
  });
  while (!started || asleep(ex) != 3) std::this_thread::sleep_for(1ms);
  double const used = least_used(500ms);
  std::printf("one long task for 0.5 s: %.2f ms CPU of the other workers\n", used * 1e3);
  if (!heist::under_tsan && !heist::under_asan) CHECK(used < 0.020);
  over = true;
  f.get();
}

TEMPLATE_TEST_CASE("adaptive and balanced: beside one long task one thief stays awake, the others sleep", "[sched]",
                   heist::idle::adaptive, heist::idle::bws) {
  with<TestType> ex{4};
  heist_test::watchdog guard{"one long task", 60s, [&] { return ex.state_text(); }};
  std::atomic<bool> over{false};
  std::atomic<bool> started{false};
  auto f = ex.submit([&] {
    started = true;
    while (!over) std::this_thread::sleep_for(1ms);
  });
  while (!started) std::this_thread::sleep_for(1ms);
  bool all_but_one_asleep = false;
  for (int i = 0; i < 100 || !all_but_one_asleep; ++i) {
    std::this_thread::sleep_for(2ms);
    std::size_t const n = asleep(ex);
    REQUIRE(n <= 3);
    all_but_one_asleep = all_but_one_asleep || n == 2;
  }
  over = true;
  f.get();
}

TEST_CASE("starvation: work from outside starts within a bounded number of local tasks", "[sched]") {
  constexpr long bound = 256;
  constexpr std::size_t most_workers = 2;
  // Local tasks of each worker. The test uses the count of the worker that serves the request. Another worker may run
  // any number of local tasks while the server's thread has no processor.
  struct counts {
    std::array<std::atomic<long>, most_workers> of{};
    std::atomic<long>& here() { return of[heist::detail::this_worker()->number]; }
  };
  struct perpetual {
    heist::executor<>& ex;
    std::atomic<bool>& over;
    counts& local;
    void operator()() const {
      ++local.here();
      if (!over) ex.post(*this);
    }
  };
  for (std::size_t workers = 1; workers <= most_workers; ++workers) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"starvation", 60s, [&] { return ex.state_text(); }};
    std::atomic<bool> over{false};
    counts local;
    for (std::size_t i = 0; i < workers; ++i) ex.post(perpetual{ex, over, local});
    while (local.of[0] + local.of[1] < 1000) std::this_thread::yield();
    long worst = 0;
    for (int i = 0; i < 100; ++i) {
      auto f = ex.submit([&] { return std::pair{heist::detail::this_worker()->number, local.here().load()}; });
      // Counted from the first task that runs after the submission is visible: the bound is the scheduler's alone.
      std::array<long, most_workers> const at_submit{local.of[0], local.of[1]};
      auto const [server, count] = f.get();
      worst = std::max(worst, count - at_submit[server]);
    }
    std::printf("starvation, %zu worker(s): outside work started after at most %ld local tasks\n", workers, worst);
    CHECK(worst <= bound);
    over = true;
    ex.wait_idle();
  }
}
