// An idle executor gives back the memory of its tasks within some seconds. Work resumes after that.
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist_test::slow;

namespace {

long resident_mib() {
  std::ifstream file{"/proc/self/status"};
  std::string line;
  while (std::getline(file, line)) {
    if (line.rfind("VmRSS", 0) == 0) return std::atol(line.c_str() + 6) / 1024;
  }
  return -1;
}

/// The resident memory, in MiB, when it is below `enough`, or after half a minute. Sanitizers keep their memory.
long resident_after_a_while(long enough) {
  for (int i = 0; i < (slow ? 25 : 300) && resident_mib() >= enough; ++i) {
    std::this_thread::sleep_for(100ms);
    ::malloc_trim(0);
  }
  return resident_mib();
}

void use_stack() {
  char volatile used[100 << 10];
  for (std::size_t k = 0; k < sizeof used; k += 4096) used[k] = 1;
}

/// `n` tasks wait at the same time, each after having used 100 KiB of its stack.
template <class Executor>
void wait_all(Executor& ex, int n) {
  heist::executor<> gate{std::size_t{1}};
  std::atomic<bool> open{false};
  std::atomic<int> waiting{0}, over{0};
  gate.post([&] {
    while (!open) std::this_thread::sleep_for(1ms);
  });
  for (int i = 0; i < n; ++i) {
    ex.post([&] {
      use_stack();
      ++waiting;
      gate.submit([] {}).get();
      use_stack();
      ++over;
    });
  }
  while (waiting != n) std::this_thread::sleep_for(1ms);
  open = true;
  ex.wait_idle();
  REQUIRE(over == n);
}

}  // namespace

TEST_CASE("memory: stacks of waits that are over are given back while idle, and are used again", "[stress]") {
  int const n = slow ? 300 : 5000;
  heist::executor ex{heist::options{.workers = 2}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(120)}, "stacks given back"};
  for (int round = 0; round < 2; ++round) {
    wait_all(ex, n);
    long const before = resident_mib(), after = resident_after_a_while(100);
    std::printf("%d waits that are over: %ld MiB, a while later %ld\n", n, before, after);
    if (slow) continue;  // the sanitizers' own memory
    CHECK(before > 400);
    CHECK(after < 100);
  }
}

TEST_CASE("memory: at the cap of fibers nobody is refused while stacks are given back", "[stress]") {
  int const n = slow ? 40 : 200;
  heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>> ex{
      heist::options{.workers = 2, .max_fibers = static_cast<std::size_t>(n) + 64}};  // each may keep 32 of the other's
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(120)}, "at the cap"};
  for (int round = 0; round < 4; ++round) {
    wait_all(ex, n - 3);
    std::this_thread::sleep_for(900ms + 60ms * round);  // about when it begins
  }
}

TEST_CASE("memory: blocks and deques of posts that are over are given back while idle", "[stress]") {
  int const n = slow ? 20'000 : 1'000'000;
  heist::executor ex{std::size_t{2}};
  heist_test::watchdog guard{ex, std::chrono::seconds{heist_test::stress_limit(120)}, "blocks given back"};
  std::atomic<bool> open{false};
  std::atomic<int> ran{0}, held{0};
  for (int i = 0; i < 2; ++i) {
    ex.post([&] {
      ++held;
      while (!open) std::this_thread::sleep_for(1ms);
    });
  }
  while (held != 2) std::this_thread::sleep_for(1ms);
  for (int i = 0; i < n; ++i) ex.post([&] { ++ran; });
  long const before = resident_mib();
  open = true;
  ex.wait_idle();
  REQUIRE(ran == n);
  long const after = resident_after_a_while(before / 4);
  std::printf("%d posts that are over: %ld MiB, a while later %ld\n", n, before, after);
  if (slow) return;
  CHECK(before > 70);
  CHECK(after < before / 4);
}
