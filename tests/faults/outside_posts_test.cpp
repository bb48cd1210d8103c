// Threads outside that post at the same time never wait for each other. A thread that is stopped in operator new delays
// no other thread (a thread of low priority whose core another thread has taken).
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "faults/fault_sites.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

thread_local bool stops_in_new = false;
std::atomic<int> stopped{0};
std::atomic<bool> go_on{false};

void* allocate(std::size_t bytes) {
  if (stops_in_new) {
    ++stopped;
    while (!go_on) std::this_thread::sleep_for(1ms);
    stops_in_new = false;
  }
  if (void* const p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc{};
}

}  // namespace

HEIST_NOINLINE void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
HEIST_NOINLINE void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
HEIST_NOINLINE void operator delete(void* p) noexcept {
  std::free(p);
}
HEIST_NOINLINE void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

TEST_CASE("post: threads outside go on while others are stopped in operator new", "[faults]") {
  heist::executor ex{std::size_t{2}};
  heist_test::watchdog guard{"posts", 60s, [&] { return ex.state_text(); }};
  std::atomic<int> ran{0};
  // More threads than pools: each pool has one that is stopped, and one that is not.
  int const of_each = heist_test::slow ? 16 : 48;
  std::vector<std::thread> threads;
  for (int i = 0; i < of_each; ++i) {
    threads.emplace_back([&] {
      stops_in_new = true;
      ex.post([&] { ++ran; });
    });
  }
  while (stopped != of_each) std::this_thread::sleep_for(1ms);
  std::atomic<int> through{0};
  for (int i = 0; i < of_each; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) ex.post([&] { ++ran; });
      ++through;
    });
  }
  while (through != of_each) std::this_thread::sleep_for(1ms);
  go_on = true;
  for (auto& t : threads) t.join();
  ex.wait_idle();
  CHECK(ran == 101 * of_each);
}
