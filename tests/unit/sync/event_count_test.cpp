// heist::detail::event_count: a notification after the announcement is never lost, one before it is none.
#include "heist/core/sync/event_count.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::detail::event_count;

namespace {

/// Waits until `condition` holds, for things that another thread is about to do.
template <class Condition>
void eventually(Condition condition) {
  while (!condition()) std::this_thread::sleep_for(100us);
}

}  // namespace

TEST_CASE("event_count: nobody waits at first, and notifying nobody changes nothing", "[sync]") {
  event_count<> e{2};
  CHECK_FALSE(e.maybe_waiting());
  auto const before = e.state().bits();
  e.notify_one();
  e.notify_all();
  CHECK(e.state().bits() == before);
}

TEST_CASE("event_count: a notification between prepare and commit keeps the waiter awake", "[sync]") {
  heist_test::watchdog guard{"notify before commit", 20s};
  event_count<> e{1};
  for (int i = 0; i < 100; ++i) {
    auto const calls = e.prepare_wait();
    CHECK(e.maybe_waiting());
    i % 2 == 0 ? static_cast<void>(e.notify_one()) : e.notify_all();
    e.commit_wait(0, calls);  // does not sleep
    CHECK_FALSE(e.maybe_waiting());
  }
}

TEST_CASE("event_count: a notification before prepare is not remembered", "[sync]") {
  heist_test::watchdog guard{"notify before prepare", 20s};
  event_count<> e{1};
  e.notify_one();
  e.notify_all();
  std::atomic<bool> notified{false};
  std::thread waiter{[&] {
    e.commit_wait(0, e.prepare_wait());
    notified = true;
  }};
  eventually([&] { return e.state().top() != 0; });
  std::this_thread::sleep_for(10ms);
  CHECK_FALSE(notified);
  e.notify_one();
  waiter.join();
  CHECK(notified);
}

TEST_CASE("event_count: cancelling takes the announcement back", "[sync]") {
  event_count<> e{3};
  e.prepare_wait();
  e.cancel_wait();
  CHECK_FALSE(e.maybe_waiting());
  e.prepare_wait();
  e.notify_one();
  e.cancel_wait();  // the only prewaiter: the signal was its own
  CHECK_FALSE(e.maybe_waiting());
  CHECK(e.state().signals() == 0);
}

TEST_CASE("event_count: who cancels does not eat the signal of another", "[sync]") {
  heist_test::watchdog guard{"cancel with another prewaiter", 20s};
  event_count<> e{2};
  e.prepare_wait();
  auto const calls = e.prepare_wait();
  e.notify_one();
  e.cancel_wait();  // one prewaiter too many for the one signal
  CHECK(e.state().signals() == 1);
  e.commit_wait(1, calls);  // takes the signal, does not sleep
  CHECK_FALSE(e.maybe_waiting());
}

TEST_CASE("event_count: a call to all cannot be taken by a waiter that came after it", "[sync]") {
  heist_test::watchdog guard{"call to all", 20s};
  event_count<> e{2};
  auto const calls = e.prepare_wait();
  e.notify_all();
  e.commit_wait(1, e.prepare_wait());  // takes the signal that was meant for the other
  e.commit_wait(0, calls);             // does not sleep all the same
  CHECK_FALSE(e.maybe_waiting());
  CHECK(e.state().signals() == 0);
}

TEST_CASE("event_count: no more signals than prewaiters", "[sync]") {
  event_count<> e{2};
  e.prepare_wait();
  for (int i = 0; i < 10; ++i) e.notify_one();
  CHECK(e.state().signals() == 1);
  e.prepare_wait();
  e.notify_all();
  CHECK(e.state().signals() == 2);
  e.cancel_wait();
  e.cancel_wait();
  CHECK_FALSE(e.maybe_waiting());
  CHECK(e.state().signals() == 0);
}

TEST_CASE("event_count: notify_one wakes one sleeper, the youngest; notify_all wakes the rest", "[sync]") {
  heist_test::watchdog guard{"three sleepers", 30s};
  event_count<> e{3};
  std::atomic<int> awake{0};
  std::atomic<std::size_t> last{99};
  std::vector<std::thread> sleepers;
  for (std::size_t i = 0; i < 3; ++i) {
    sleepers.emplace_back([&, i] {
      e.commit_wait(i, e.prepare_wait());
      last = i;
      ++awake;
    });
    eventually([&] { return e.state().top() == i + 1; });
  }
  e.notify_one();
  eventually([&] { return awake == 1; });
  CHECK(last == 2);
  std::this_thread::sleep_for(5ms);
  CHECK(awake == 1);
  CHECK(e.state().top() == 2);
  e.notify_all();
  for (auto& s : sleepers) s.join();
  CHECK(awake == 3);
  CHECK_FALSE(e.maybe_waiting());
}

TEST_CASE("event_count: notify wakes one given sleeper, which may sleep again, be notified, and be called again",
          "[sync]") {
  heist_test::watchdog guard{"calls by name", 30s};
  event_count<> e{3};
  std::vector<std::atomic<int>> awake(3);
  std::atomic<bool> stop{false};
  std::vector<std::thread> sleepers;
  for (std::size_t i = 0; i < 3; ++i) {
    sleepers.emplace_back([&, i] {
      while (!stop) {
        auto const calls = e.prepare_wait();
        if (stop) {
          e.cancel_wait();
          break;
        }
        e.commit_wait(i, calls);
        if (++awake[i] == 199) break;
      }
    });
    eventually([&] { return e.state().top() == i + 1; });
  }
  for (int round = 1; round != 200; ++round) {
    e.notify(1);  // neither the youngest nor the oldest
    eventually([&] { return awake[1] >= round; });
  }
  sleepers[1].join();
  CHECK(awake[0] == 0);
  CHECK(awake[2] == 0);
  CHECK(e.notify_one());  // the youngest
  eventually([&] { return awake[2] == 1; });
  std::this_thread::sleep_for(5ms);
  CHECK(awake[0] == 0);
  stop = true;
  e.notify_all();
  sleepers[0].join();
  sleepers[2].join();
  CHECK_FALSE(e.notify_one());
}

TEST_CASE("event_count: a notification passes a waiter by that was called, and is awake", "[sync]") {
  heist_test::watchdog guard{"called and busy", 30s};
  event_count<> e{2};
  std::atomic<int> awake{0};
  std::atomic<bool> is_busy{true};
  std::thread other{[&] {
    e.commit_wait(0, e.prepare_wait());
    ++awake;
  }};
  eventually([&] { return e.state().top() == 1; });
  std::thread busy{[&] {
    e.commit_wait(1, e.prepare_wait());
    ++awake;
    while (is_busy) std::this_thread::yield();
  }};
  eventually([&] { return e.state().top() == 2; });
  e.notify(1);
  eventually([&] { return awake == 1; });
  CHECK(e.notify_one());
  other.join();
  CHECK(awake == 2);
  CHECK_FALSE(e.notify_one());
  is_busy = false;
  busy.join();
}

TEST_CASE("event_count: the largest index sleeps and wakes", "[sync]") {
  heist_test::watchdog guard{"largest index", 20s};
  constexpr std::size_t most = event_count<>::max_waiters;
  auto const e = std::make_unique<event_count<>>(most);
  std::thread sleeper{[&] { e->commit_wait(most - 1, e->prepare_wait()); }};
  eventually([&] { return e->state().top() == most; });
  e->notify_one();
  sleeper.join();
  CHECK_FALSE(e->maybe_waiting());
}

TEST_CASE("event_count_word: the epoch wraps inside its own bits", "[sync]") {
  using word = heist::detail::event_count_word<2>;
  word w{0};
  for (int i = 0; i < 4; ++i) w = w.with_top(3).with_top(0);
  CHECK(w.bits() == 0);
  CHECK(word{word::epoch_mask}.with_top(5).bits() == 5);
  using wide = heist::detail::event_count_word<27>;
  CHECK(wide{wide::epoch_mask | wide::one_prewaiter}.with_top(7).bits() == (wide::one_prewaiter | 7));
}

TEST_CASE("event_count: a sleep with a limit calls once when its time is over, and goes on until notified", "[sync]") {
  heist_test::watchdog guard{"timed sleep", 20s};
  event_count<> e{2};
  std::atomic<int> called{0}, awake{0};
  std::thread sleeper{[&] {
    e.commit_wait(0, e.prepare_wait(), 1'000'000, [&](auto still) {
      CHECK(still());
      ++called;
    });
    ++awake;
  }};
  eventually([&] { return called == 1; });
  std::this_thread::sleep_for(10ms);
  CHECK(called == 1);
  CHECK(awake == 0);
  CHECK(e.maybe_waiting());
  e.notify_one();
  sleeper.join();
  CHECK(awake == 1);
  CHECK_FALSE(e.maybe_waiting());
}

TEST_CASE("event_count: who is notified while it does something else sees it", "[sync]") {
  heist_test::watchdog guard{"notified beside", 20s};
  event_count<> e{1};
  std::atomic<bool> inside{false}, seen{false};
  std::thread sleeper{[&] {
    e.commit_wait(0, e.prepare_wait(), 1'000'000, [&](auto still) {
      inside = true;
      eventually([&] { return !still(); });
      seen = true;
    });
  }};
  eventually([&] { return inside.load(); });
  e.notify_one();
  sleeper.join();
  CHECK(seen);
}

TEST_CASE("event_count: a sleeper that is notified before its limit does nothing else", "[sync]") {
  heist_test::watchdog guard{"notified before the limit", 20s};
  event_count<> e{1};
  bool called = false;
  std::thread sleeper{[&] { e.commit_wait(0, e.prepare_wait(), 3'600'000'000'000, [&](auto) { called = true; }); }};
  eventually([&] { return e.maybe_waiting(); });
  e.notify_all();
  sleeper.join();
  CHECK_FALSE(called);
}

TEST_CASE("event_count: a lent sleeper is not woken until it is put back", "[sync]") {
  heist::detail::event_count<> e{2};
  CHECK(e.lend() == e.none);  // nobody sleeps
  std::atomic<bool> is_awake{false};
  std::thread sleeper{[&] {
    e.commit_wait(1, e.prepare_wait());
    is_awake = true;
  }};
  std::size_t lent = e.none;
  while ((lent = e.lend()) == e.none) std::this_thread::yield();
  CHECK(lent == 1);
  CHECK(e.lend() == e.none);
  CHECK_FALSE(e.maybe_waiting());
  CHECK(e.maybe_waiting_or_lent());
  e.notify_one();
  e.notify_all();
  std::this_thread::sleep_for(std::chrono::milliseconds{5});
  CHECK_FALSE(is_awake);
  e.put_back(lent);
  CHECK(e.maybe_waiting());
  e.notify_one();
  sleeper.join();
  CHECK(is_awake);
  CHECK_FALSE(e.maybe_waiting_or_lent());
}

TEST_CASE("event_count: a sleeper that is lent as it falls asleep does what it does after some time", "[sync]") {
  heist_test::watchdog guard{"timed sleep of a lent waiter", 60s};
  event_count<> e{1};
  for (int round = 0; round < 100; ++round) {
    std::atomic<bool> has_idled{false};
    std::thread sleeper{[&] { e.commit_wait(0, e.prepare_wait(), 1'000'000, [&](auto const&) { has_idled = true; }); }};
    std::size_t lent = e.none;
    while ((lent = e.lend()) == e.none) std::this_thread::yield();
    std::this_thread::sleep_for(100us);
    e.put_back(lent);
    eventually([&] { return has_idled.load(); });
    CHECK(e.notify_one());
    sleeper.join();
  }
}
