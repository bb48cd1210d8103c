// heist::park_word: sleeps only while the word holds the expected value, survives signals, leaves errno alone.
#include "heist/core/base/park_word.hpp"

#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <thread>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::park_word;

namespace {
std::atomic<int> signals_seen{0};
}

TEST_CASE("park_word: wait() returns at once when the word has another value", "[base]") {
  heist_test::watchdog guard{"wait with another value", 20s};
  park_word w;
  w.store(1, std::memory_order_relaxed);
  w.wait(0);
  CHECK(w.load(std::memory_order_relaxed) == 1);
  CHECK(w.exchange(2, std::memory_order_relaxed) == 1);
  CHECK_FALSE(w.wait_for(0, 1'000'000'000));
  w.wake_one();
  w.wake_all();
}

TEST_CASE("park_word: wait_for() gives up after its time, not long before", "[base]") {
  heist_test::watchdog guard{"timeouts", 20s};
  park_word w;
  for (auto const limit : {0ns, 1ns, 2'000'000ns, 30'000'000ns}) {
    auto const start = std::chrono::steady_clock::now();
    while (!w.wait_for(0, limit.count())) continue;
    CHECK(std::chrono::steady_clock::now() - start >= limit);
  }
}

TEST_CASE("park_word: a store followed by a wake is never missed", "[base]") {
  heist_test::watchdog guard{"ping-pong", 60s};
  park_word ping, pong;
  int shared = 0;  // plain: the words order it
  int const rounds = heist::under_tsan || heist::under_asan ? 5000 : 20000;
  auto const await = [](park_word& w, std::uint32_t old) {
    while (w.load(std::memory_order_acquire) == old) w.wait(old);
  };
  std::thread other{[&] {
    for (int i = 0; i < rounds; ++i) {
      await(ping, static_cast<std::uint32_t>(i));
      ++shared;
      pong.store(static_cast<std::uint32_t>(i + 1), std::memory_order_release);
      pong.wake_one();
    }
  }};
  for (int i = 0; i < rounds; ++i) {
    ++shared;
    ping.store(static_cast<std::uint32_t>(i + 1), std::memory_order_release);
    ping.wake_one();
    await(pong, static_cast<std::uint32_t>(i));
  }
  other.join();
  CHECK(shared == 2 * rounds);
}

TEST_CASE("park_word: wake_all() wakes everybody", "[base]") {
  heist_test::watchdog guard{"wake_all", 30s};
  park_word w;
  std::thread sleepers[4];
  for (auto& s : sleepers) {
    s = std::thread{[&] {
      while (w.load(std::memory_order_acquire) == 0) w.wait(0);
    }};
  }
  std::this_thread::sleep_for(20ms);
  w.store(1, std::memory_order_release);
  w.wake_all();
  for (auto& s : sleepers) s.join();
}

TEST_CASE("park_word: signals interrupt a sleep without ending the wait, and errno stays", "[base]") {
  heist_test::watchdog guard{"EINTR", 30s};
  struct sigaction action {};
  struct sigaction old {};
  action.sa_handler = [](int) { signals_seen.fetch_add(1); };  // no SA_RESTART
  ::sigaction(SIGUSR2, &action, &old);
  signals_seen = 0;
  park_word w;
  std::atomic<bool> returned{false};
  int errno_after = 0;
  std::thread sleeper{[&] {
    errno = EDOM;
    while (w.load(std::memory_order_acquire) == 0) w.wait(0);
    errno_after = errno;
    returned = true;
  }};
  for (int i = 0; i < 50 || signals_seen == 0; ++i) {
    ::pthread_kill(sleeper.native_handle(), SIGUSR2);
    std::this_thread::sleep_for(1ms);
  }
  CHECK_FALSE(returned);
  w.store(1, std::memory_order_release);
  w.wake_one();
  sleeper.join();
  CHECK(errno_after == EDOM);
  ::sigaction(SIGUSR2, &old, nullptr);
}
