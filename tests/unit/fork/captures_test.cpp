// Callables of users that wait where they are copied, moved or destroyed, and resume on another worker.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "heist/fork_join.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_way.hpp"

using namespace std::chrono_literals;
using heist_test::in_every_way;
using heist_test::slow;

namespace {

/// Joins its task when it is destroyed, as std::jthread and the futures of std::async do.
class joiner {
 public:
  explicit joiner(heist::future<void> f) : future_{std::move(f)} {}
  joiner(joiner&& other) noexcept : future_{std::move(other.future_)} {}
  ~joiner() {
    if (future_.valid()) future_.wait();
  }

 private:
  heist::future<void> future_;
};

/// Waits when it is copied; every third copy throws.
struct slow_copy {
  slow_copy(heist::executor<>& ex, std::atomic<int>& n) : other{&ex}, copies{&n} {}
  slow_copy(slow_copy const& from) : other{from.other}, copies{from.copies} {
    other->submit([] {}).wait();
    if (++*copies % 3 == 0) throw std::runtime_error{"copy"};
  }
  slow_copy& operator=(slow_copy const&) = delete;

  heist::executor<>* other;
  std::atomic<int>* copies;
};

}  // namespace

TEST_CASE("captures: a posted task's destructor waits, and its block goes to the worker that it is on then", "[fork]") {
  constexpr int tasks = slow ? 100 : 500;
  heist::executor<> other{1};
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 120s, "posted"};
  std::atomic<long> ran{0};
  long posted = 0;
  for (int round = 0; round < (slow ? 5 : 40); ++round) {
    posted += 16 * tasks;
    for (int i = 0; i < 16; ++i) {
      ex.post([&ex, &other, &ran] {
        for (int k = 0; k < tasks; ++k) ex.post([j = joiner{other.submit([] {})}, &ran] { ++ran; });
      });
    }
    ex.wait_idle();
    REQUIRE(ran == posted);
  }
}

TEST_CASE("captures: destructors of a scope's children wait, under every policy", "[fork]") {
  heist::executor<> other{1};
  in_every_way(slow ? 2 : 10, [&](auto c) {
    std::atomic<int> ran{0};
    heist::scope s{c};
    for (int k = 0; k < 100; ++k) {
      s.fork([j = joiner{other.submit([] {})}, &ran, &other, &s] {
        ++ran;
        s.fork([j = joiner{other.submit([] {})}, &ran] { ++ran; });
      });
    }
    s.join();
    REQUIRE(ran == 200);
  });
}

TEST_CASE("captures: the scope outlives what the callables of its children do when they are destroyed", "[fork]") {
  heist::executor<> other{1};
  in_every_way(slow ? 2 : 10, [&](auto c) {
    std::atomic<int> ended{0};
    struct told {
      explicit told(std::atomic<int>& n, heist::executor<>& ex) : count{&n}, wait_in{&ex} {}
      told(told&& from) noexcept : count{std::exchange(from.count, nullptr)}, wait_in{from.wait_in} {}
      ~told() {
        if (count == nullptr) return;
        wait_in->submit([] {}).wait();
        ++*count;
      }
      std::atomic<int>* count;
      heist::executor<>* wait_in;
    };
    {
      heist::scope s{c};
      for (int k = 0; k < 20; ++k) s.fork([t = told{ended, other}] { static_cast<void>(t); });
    }
    REQUIRE(ended == 20);
  });
}

TEST_CASE("captures: copies wait, and throw, and no child or block is lost", "[fork]") {
  heist::executor<> other{1};
  in_every_way(slow ? 2 : 10, [&](auto c) {
    std::atomic<int> ran{0}, copies{0};
    int forked = 0;
    heist::scope s{c};
    auto const child = [&ran, held = slow_copy{other, copies}] { ++ran; };
    for (int k = 0; k < 30; ++k) {
      try {
        s.fork(child);
        ++forked;
      } catch (std::runtime_error const&) {
      }
    }
    s.join();
    REQUIRE(forked == 20);
    REQUIRE(ran == forked);
  });
}
