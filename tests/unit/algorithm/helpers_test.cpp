// Workers help with loops. Most bodies wait for each other: a test without a helper would hang.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

/// As many bodies as there are threads for them.
template <class On>
void meet(On& on, std::ptrdiff_t n) {
  std::latch all{n};
  heist::for_each_index(on, std::ptrdiff_t{0}, n, [&all](std::ptrdiff_t) { all.arrive_and_wait(); });
}

}  // namespace

TEST_CASE("helpers: a worker that waits without a stack to continue with", "[algo]") {
  heist::executor<> ex{heist::options{.workers = 2, .max_fibers = 2}};
  heist_test::watchdog guard{ex, 60s, "helpers: waits on top"};
  for (int i = 0; i != 20; ++i) {
    // The caller waits for the child, which another worker has.
    for (bool outside : {false, true}) {
      ex.submit([&](auto ctx) {
          std::atomic<bool> started{false};
          ctx.fork_join(
              [&] {
                while (!started) std::this_thread::yield();
              },
              [&](auto c) {
                started = true;
                if (outside) {
                  meet(ex, 2);
                } else {
                  meet(c, 2);
                }
              });
        }).get();
    }
    // The caller waits for the end of a loop.
    ex.submit([&](auto ctx) {
        std::latch both{2};
        heist::for_each_index(ctx, 0, 2, [&](int k) {
          both.arrive_and_wait();
          if (k == 1) meet(ex, 2);
        });
      }).get();
  }
}

TEST_CASE("helpers: workers whose tasks never end come to a loop of a thread outside", "[algo]") {
  heist::executor<> ex{std::size_t{2}};
  heist_test::watchdog guard{ex, 60s, "helpers: workers whose tasks never end"};
  for (bool forks : {false, true}) {
    std::atomic<bool> over{false};
    std::atomic<int> begun{0}, left{2};
    std::function<void(heist::context)> const again = [&](heist::context c) {
      ++begun;
      if (forks) c.fork_join([] {}, [] {});
      if (over) {
        --left;
      } else {
        ex.post([&again](heist::context d) { again(d); });
      }
    };
    for (int i = 0; i != 2; ++i) ex.post([&again](heist::context c) { again(c); });
    while (begun < 100) std::this_thread::yield();
    for (int i = 0; i != 3; ++i) meet(ex, 2);
    over = true;
    while (left != 0) std::this_thread::yield();
    ex.wait_idle();
  }
}

TEST_CASE("helpers: loops whose bodies wait, as many as there are tasks, and loops after them", "[algo]") {
  heist::executor<> ex{std::size_t{3}};
  heist_test::watchdog guard{ex, 60s, "helpers: loops whose bodies wait"};
  constexpr int tasks = 200;
  for (int round = 0; round != 3; ++round) {
    std::atomic<int> waiting{0}, ran{0};
    auto gate = ex.submit([&](heist::context c) {
                    c.blocking([&] {
                      while (waiting < tasks) std::this_thread::yield();
                    });
                  }).share();
    std::vector<heist::future<void>> all;
    for (int i = 0; i != tasks; ++i) {
      all.push_back(ex.submit([&](heist::context c) {
        ++waiting;
        heist::for_each_index(c, 0, 4, [&](int) {
          gate.get();
          ++ran;
        });
      }));
    }
    for (auto& f : all) f.get();
    CHECK(ran == 4 * tasks);
    meet(ex, 3);
    ex.invoke([](auto c) { meet(c, 3); });
  }
}

TEST_CASE("helpers: a worker takes queued tasks before it helps with a loop", "[algo]") {
  heist::executor<> ex{std::size_t{2}};
  heist_test::watchdog guard{ex, 60s, "helpers: queued tasks first"};
  constexpr int rounds = 40;
  int right = 0;
  for (int i = 0; i != rounds; ++i) {
    std::atomic<bool> free{false}, helped{false};
    std::atomic<int> ran{0}, seen{5};
    auto busy = ex.submit([&] {
      while (!free) std::this_thread::yield();
    });
    ex.submit([&](heist::context c) {
        std::vector<heist::future<void>> queued;
        for (int k = 0; k != 5; ++k) queued.push_back(c.submit([&] { ++ran; }));
        auto const caller = std::this_thread::get_id();
        heist::for_each_index(c, 0, 200, [&](int) {
          free = true;
          if (std::this_thread::get_id() == caller) {
            std::this_thread::sleep_for(20us);
          } else if (!helped.exchange(true)) {
            seen = ran.load();
          }
        });
        for (auto& f : queued) f.get();
      }).get();
    busy.get();
    right += seen == 5 ? 1 : 0;
  }
  // Thieves steal from at random: now and then one looks at the loop first.
  INFO(right << " of " << rounds << " times");
  CHECK(right > rounds / 2);
}

TEST_CASE("helpers: tasks that come during a loop and do not end do not keep its caller", "[algo]") {
  for (bool sums : {false, true}) {
    heist::executor<> ex{std::size_t{2}};
    heist_test::watchdog guard{ex, 60s, "helpers: tasks that do not end"};
    std::atomic<bool> stop{false}, helped{false};
    std::atomic<int> begun{0};
    auto const caller = std::this_thread::get_id();
    auto const step = [&](int i) {
      if (std::this_thread::get_id() != caller) helped = true;
      while (i == 1000 && !helped) std::this_thread::yield();  // the loop asks for helpers before it
      std::this_thread::sleep_for(50us);
      return i;
    };
    std::vector<heist::future<void>> busy;
    std::thread other{[&] {
      while (!helped) std::this_thread::yield();
      for (int k = 0; k != 4; ++k) {
        busy.push_back(ex.submit([&] {
          ++begun;
          while (!stop) std::this_thread::yield();
        }));
      }
    }};
    if (sums) {
      CHECK(heist::reduce_by_index(
                ex, 0, 2000, 0L,
                [&](heist::index_range r, long s) {
                  for (std::size_t i = r.first; i != r.last; ++i) s += step(static_cast<int>(i));
                  return s;
                },
                std::plus<>{}) == 1999000);
    } else {
      CHECK(heist::for_each_index(ex, 0, 2000, step));
    }
    other.join();
    while (begun != 2) std::this_thread::yield();  // both workers
    stop = true;
    for (auto& f : busy) f.get();
  }
}
