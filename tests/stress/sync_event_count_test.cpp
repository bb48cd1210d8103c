// heist::detail::event_count among threads: each token produced is consumed once, and no waiter sleeps while there is a token.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/core/sync/event_count.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

namespace {

/// The smallest thing to wait for: a number of tokens.
struct tokens {
  std::atomic<long> available{0};
  bool take() {
    long n = available.load(std::memory_order_relaxed);
    while (n > 0) {
      if (available.compare_exchange_weak(n, n - 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("event_count: producers and consumers balance, with any number of both", "[stress]") {
  auto const seed = heist_test::stress_seed("event count");
  for (std::size_t const producers : {1u, 2u, 4u}) {
    for (std::size_t const consumers : {1u, 2u, 5u}) {
      heist::detail::event_count<> e{consumers};
      tokens t;
      heist_test::watchdog guard{"event count", std::chrono::seconds{heist_test::stress_limit(60)}, [&] {
                                   auto const s = e.state();
                                   return "top " + std::to_string(s.top()) + ", prewaiters " +
                                          std::to_string(s.prewaiters()) + ", signals " + std::to_string(s.signals()) +
                                          ", tokens " + std::to_string(t.available.load()) + "\n";
                                 }};
      int const each = heist_test::stress_rounds(10000);
      std::atomic<bool> over{false};
      std::atomic<long> consumed{0}, slept{0}, cancelled{0};
      std::vector<std::thread> producing, consuming;
      for (std::size_t c = 0; c < consumers; ++c) {
        consuming.emplace_back([&, c] {
          heist::fast_random random{seed + c};
          for (;;) {
            if (t.take()) {
              ++consumed;
              continue;
            }
            auto const calls = e.prepare_wait();
            if (t.take()) {
              e.cancel_wait();
              ++consumed;
              ++cancelled;
            } else if (over) {
              e.cancel_wait();
              if (t.available == 0) return;
            } else {
              if (random.below(8) == 0) heist_test::yield();
              e.commit_wait(c, calls);
              ++slept;
            }
          }
        });
      }
      for (std::size_t p = 0; p < producers; ++p) {
        producing.emplace_back([&, p] {
          heist::fast_random random{seed + 100 + p};
          for (int i = 0; i < each; ++i) {
            t.available.fetch_add(1, std::memory_order_release);
            e.notify_one();
            for (auto k = random.below(i % 64 == 0 ? 3000 : 30); k != 0; --k) heist::os_env::relax();
          }
        });
      }
      for (auto& p : producing) p.join();
      // Every token has been notified of: the consumers need no help to take the rest.
      while (t.available != 0) heist::os_env::yield();
      over = true;
      e.notify_all();
      for (auto& c : consuming) c.join();
      REQUIRE(consumed == static_cast<long>(producers) * each);
      REQUIRE(e.state().prewaiters() == 0);
      REQUIRE(e.state().signals() == 0);
      REQUIRE(e.state().top() == 0);
    }
  }
}

TEST_CASE("event_count: notify_all releases everybody, over and over", "[stress]") {
  static_cast<void>(heist_test::stress_seed("barrier"));
  constexpr std::size_t waiters = 4;
  heist::detail::event_count<> e{waiters};
  heist_test::watchdog guard{"barrier", std::chrono::seconds{heist_test::stress_limit(60)}};
  // No thread waits for the next phase before all have left this one: waiters of an event_count wait for the same
  // thing.
  std::atomic<long> phase{0}, arrived{0}, left{0}, released{0};
  long const phases = heist_test::stress_rounds(3000);
  std::vector<std::thread> threads;
  for (std::size_t w = 0; w < waiters; ++w) {
    threads.emplace_back([&, w] {
      for (long p = 0; p < phases; ++p) {
        ++arrived;
        while (phase.load() == p) {
          auto const calls = e.prepare_wait();
          if (phase.load() == p) {
            e.commit_wait(w, calls);
          } else {
            e.cancel_wait();
          }
        }
        ++left;
        while (released.load() == p) heist::os_env::yield();
      }
    });
  }
  for (long p = 0; p < phases; ++p) {
    while (arrived.load() != static_cast<long>(waiters) * (p + 1)) heist::os_env::yield();
    phase = p + 1;
    e.notify_all();
    while (left.load() != static_cast<long>(waiters) * (p + 1)) heist::os_env::yield();
    released = p + 1;
  }
  for (auto& t : threads) t.join();
  CHECK_FALSE(e.maybe_waiting());
}
