// heist::detail::loop_costs, and loops that begin while all workers sleep.
#include "heist/core/scheduler/loop_costs.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/executor.hpp"
#include "heist/policy.hpp"
#include "support/asleep.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::detail::loop_costs;

namespace {

/// Its workers count their searches. Each wake-up leads to one.
struct counted_idle : heist::idle::standard {
  static inline std::atomic<int> searches{0};
  void begin(std::uint32_t workers, std::uint64_t ticks) noexcept {
    ++searches;
    standard::begin(workers, ticks);
  }
};
using executor = heist::executor<heist::policy::with_idle<heist::policy::random, counted_idle>>;

void wait_until_asleep(executor const& ex, std::size_t workers) {
  while (heist_test::asleep(ex) != workers) std::this_thread::sleep_for(1ms);
}

}  // namespace

TEST_CASE("loop_costs: a loop is worth some wake-ups, and loops in a row together", "[sched]") {
  loop_costs c;
  c.begin(0);
  CHECK(c.are_worth_waking(1));  // nothing is known
  c.woke(1000);
  CHECK_FALSE(c.are_worth_waking(2999));
  CHECK(c.are_worth_waking(3001));
  c.woke_nobody(10'000, 2000);
  c.begin(20'000);
  CHECK_FALSE(c.are_worth_waking(900));
  CHECK(c.are_worth_waking(1100));
  c.woke_nobody(30'000, 900);
  c.begin(10'000'000);  // after a long pause
  CHECK_FALSE(c.are_worth_waking(2500));
  c.woke(1000);
  CHECK_FALSE(c.are_worth_waking(2500));
}

TEST_CASE("loop_costs: the rest of a loop is reckoned at the pace of its last block", "[sched]") {
  CHECK(loop_costs::of_rest(100, 10, 1000) == 10'000);
  CHECK(loop_costs::of_rest(1, 1, ~std::size_t{0}) > 1e19);  // more than a signed number holds
}

TEST_CASE("loop_costs: an interrupted wake-up is forgotten", "[sched]") {
  loop_costs c;
  c.woke(1000);
  c.woke(1'000'000'000);
  CHECK(c.are_worth_waking(100'000));
  int loops = 0;
  while (!c.are_worth_waking(5000)) {  // measured nowhere, since no loop is worth it
    c.begin(static_cast<std::uint64_t>(++loops) * 10'000'000);
    c.woke_nobody(static_cast<std::uint64_t>(loops) * 10'000'000, 100);
    REQUIRE(loops < 1000);
    c.begin(static_cast<std::uint64_t>(loops + 1) * 10'000'000);
  }
  CHECK(loops > 100);
  for (int i = 0; i != 30; ++i) c.woke(500);
  CHECK(c.are_worth_waking(1600));
}

TEST_CASE("loop_costs: what an iteration of a body took is remembered", "[sched]") {
  loop_costs c;
  auto const body = [](std::uintptr_t i) { return reinterpret_cast<void const*>(0x1000 + 64 * i); };
  CHECK(c.of_iteration(body(0)) == loop_costs::unknown);
  c.set_iteration(body(0), 500, 100);
  CHECK(c.of_iteration(body(0)) == 5);
  c.set_iteration(body(0), 550, 100);  // nearly the same
  CHECK(c.of_iteration(body(0)) == 5);
  c.set_iteration(body(0), 25, 100);
  CHECK(c.of_iteration(body(0)) == 0.25);
  c.set_iteration(body(0), std::uint64_t{1} << 62, 1);  // more than can be kept
  CHECK(c.of_iteration(body(0)) > 1e12);
  for (std::uintptr_t i = 0; i != 64; ++i) c.set_iteration(body(i), i, 1);
  int known = 0;
  for (std::uintptr_t i = 0; i != 64; ++i) {
    double const cost = c.of_iteration(body(i));
    if (cost == loop_costs::unknown) continue;
    ++known;
    CHECK(cost == static_cast<double>(i));
  }
  CHECK(known >= 1);
  CHECK(known <= 64);
  CHECK(known > 16);
}

TEST_CASE("loop_costs: loops that are shared each time are measured alone now and then", "[sched]") {
  loop_costs c;
  for (int const bodies : {1, 2, 16, 17}) {
    std::vector<int> alone(static_cast<std::size_t>(bodies));
    for (int i = 0; i != 160; ++i) {
      for (int& of_body : alone) of_body += c.is_measured_again() ? 1 : 0;
    }
    for (int const n : alone) {
      CHECK(n >= 1);
      CHECK(n <= 40);
    }
  }
}

TEST_CASE("loops: one whose body takes long is open from its first iteration on, if a worker is awake", "[algo]") {
  heist::executor<heist::policy::with_idle<heist::policy::random, heist::idle::spinning>> ex{2};
  heist_test::watchdog guard{ex, 120s, "a loop of a known body"};
  std::atomic<bool> waits{false}, helped{false};
  auto const caller = std::this_thread::get_id();
  auto const body = [&](int i) {
    if (std::this_thread::get_id() != caller) helped = true;
    if (!waits) std::this_thread::sleep_for(20us);
    while (waits && i == 0 && !helped) std::this_thread::yield();
  };
  for (int i = 0; i != 3; ++i) heist::for_each_index(ex, 0, 500, body);
  waits = true;
  helped = false;
  heist::for_each_index(ex, 0, 500, body);
  CHECK(helped);
}

TEST_CASE("loops: cheap iterations do not hide dear ones behind them", "[algo]") {
  executor ex{2};
  heist_test::watchdog guard{ex, 120s, "dear iterations at the end"};
  std::atomic<bool> helped{false};
  auto const caller = std::this_thread::get_id();
  for (int n : {60, 600}) {
    std::atomic<int> dear_from{n};
    auto const body = [&](int i) {
      // So that the cheap ones take longer than a loop is alone in any case.
      for (int volatile k = 0; k < 200;) k = k + 1;
      if (i < dear_from) return;
      if (std::this_thread::get_id() != caller) helped = true;
      std::this_thread::sleep_for(2ms);
      while (i == dear_from + n / 30 && !helped) std::this_thread::yield();  // the caller may have blocks until there
    };
    for (int i = 0; i != 3; ++i) {
      wait_until_asleep(ex, 2);
      heist::for_each_index(ex, 0, n, body);
    }
    wait_until_asleep(ex, 2);
    dear_from = n - n / 10;
    helped = false;
    heist::for_each_index(ex, 0, n, body);
    CHECK(helped);
  }
}

TEST_CASE("loops: no block has more than half of the iterations that are left", "[algo]") {
  for (std::size_t const workers : {2, 4, 16}) {
    executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "blocks"};
    auto const check = [&](auto&& on, long n) {
      std::atomic<long> longest{0};
      heist::for_each_block(on, 0L, n, [&longest](long lo, long hi) {
        for (long known = longest; hi - lo > known && !longest.compare_exchange_weak(known, hi - lo);) {
        }
      });
      CHECK(longest <= n / 2);
    };
    for (long const n : {20L, 300L, 700L, 1200L, 8000L, 100'000L}) {
      for (int i = 0; i != 20; ++i) {
        check(ex, n);
        ex.invoke([&](auto ctx) { check(ctx, n); });
      }
    }
  }
}

TEST_CASE("loops: a stop is answered soon where iterations become dear after cheap ones", "[algo]") {
  for (std::size_t const workers : {1, 2, 4}) {
    executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "a stop"};
    for (bool const inside : {false, true}) {
      std::stop_source stop;
      std::atomic<int> after{0};
      auto const body = [&](long i) {
        if (i == 500'001) stop.request_stop();
        if (stop.stop_requested()) ++after;
      };
      auto const run = [&](auto&& on) { heist::for_each_index(on, 0L, 1'000'000L, body, {.stop = stop.get_token()}); };
      if (inside) {
        ex.invoke([&](auto ctx) { run(ctx); });
      } else {
        run(ex);
      }
      CHECK(after <= static_cast<int>(256 * workers));
    }
  }
}

TEST_CASE("loops: an exception ends one of nearly all numbers", "[algo]") {
  for (std::size_t const workers : {1, 2, 4}) {
    executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "a huge loop"};
    std::atomic<std::uint64_t> begun{0};
    auto const body = [&begun](std::uint64_t lo, std::uint64_t hi) {
      begun += hi - lo;
      if (begun > 1'000'000) throw std::runtime_error{"enough"};
    };
    CHECK_THROWS_AS(heist::for_each_block(ex, std::uint64_t{0}, ~std::uint64_t{0}, body), std::runtime_error);
    CHECK(begun < std::uint64_t{1} << 46);  // nothing is measured, so blocks may be long
  }
}

TEST_CASE("loops: blocks of nearly all numbers", "[algo]") {
  for (std::size_t const workers : {1, 2, 4}) {
    executor ex{workers};
    heist_test::watchdog guard{ex, 120s, "a huge grain"};
    for (std::size_t const grain : {std::size_t{1} << 63, std::size_t{1} << 62, (std::size_t{1} << 63) + 1}) {
      std::atomic<std::uint64_t> ran{0};
      auto const body = [&ran](std::uint64_t lo, std::uint64_t hi) { ran += hi - lo; };
      heist::for_each_block(ex, std::uint64_t{0}, ~std::uint64_t{0}, body, {.grain = grain});
      CHECK(ran == ~std::uint64_t{0});
    }
  }
}

TEST_CASE("loops: one that is empty or has a single block wakes nobody", "[algo]") {
  executor ex{2};
  heist_test::watchdog guard{ex, 120s, "empty loops"};
  std::vector<int> empty, few(100);
  wait_until_asleep(ex, 2);
  std::this_thread::sleep_for(2ms);
  wait_until_asleep(ex, 2);
  int const before = counted_idle::searches;
  for (int i = 0; i != 20; ++i) {
    heist::for_each(ex, empty, [](int& n) { ++n; });
    heist::transform(ex, empty, empty.begin(), [](int n) { return n; });
    static_cast<void>(heist::find_if(ex, empty, [](int n) { return n == 1; }));
    heist::for_each(ex, few, [](int& n) { ++n; }, {.grain = 100});
    std::this_thread::sleep_for(1ms);
  }
  CHECK(counted_idle::searches == before);
  CHECK(few == std::vector<int>(100, 20));
}

TEST_CASE("loops: short ones wake nobody, and one of the same body that is long does", "[algo]") {
  executor ex{2};
  heist_test::watchdog guard{ex, 120s, "short loops beside sleepers"};
  std::atomic<int> sum{0};
  std::atomic<bool> is_long{false}, helped{false};
  auto const caller = std::this_thread::get_id();
  auto const body = [&](int i) {
    sum += i;
    if (!is_long) return;
    if (std::this_thread::get_id() != caller) helped = true;
    if (i == 0) std::this_thread::sleep_for(20ms);
    while (i == 1 && !helped) std::this_thread::yield();
  };
  for (int n : {6, 40}) {
    heist::for_each_index(ex, 0, n, body);  // its costs are not known
    int before = 0;
    for (int i = 0; i != 30; ++i) {
      std::this_thread::sleep_for(2ms);  // a worker that was woken does not show it at once
      wait_until_asleep(ex, 2);
      if (i == 10) before = counted_idle::searches;
      heist::for_each_index(ex, 0, n, body);
    }
    CHECK(counted_idle::searches - before < 10);  // 20 if each woke one
    is_long = true;
    heist::for_each_index(ex, 0, n, body);  // ends if a helper comes
    CHECK(helped);
    is_long = helped = false;
  }
}
