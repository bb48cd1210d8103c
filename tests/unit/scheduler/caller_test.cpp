// options::caller_is_worker: the last worker is a thread outside while that calls, and nobody otherwise.
#include <heist/algorithm.hpp>
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/thread_limit.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/yield.hpp"

namespace {

heist::options with_caller(std::size_t workers) {
  return {.workers = workers, .caller_is_worker = true};
}

/// How many threads an executor with these options has started.
template <class Policy = heist::policy::random>
std::size_t threads_of(heist::options wanted) {
  static std::atomic<std::size_t> started;
  started = 0;
  wanted.on_worker_start = [](std::size_t) { started.fetch_add(1); };
  { heist::executor<Policy> const ex{wanted}; }
  return started.load();
}

/// Returns when `n` tasks are here at the same time.
void meet(std::atomic<int>& here, int n) {
  here.fetch_add(1);
  while (here.load() < n) std::this_thread::yield();
}

}  // namespace

TEST_CASE("caller: the last worker has no thread", "[scheduler]") {
  CHECK(threads_of(with_caller(1)) == 1);
  CHECK(threads_of(with_caller(2)) == 1);
  CHECK(threads_of(with_caller(5)) == 4);
  heist::executor<> ex{with_caller(5)};
  CHECK(ex.worker_count() == 5);
}

TEST_CASE("caller: a call runs on its own thread, also while all others are busy", "[scheduler]") {
  std::atomic<int> busy{0};
  std::atomic<bool> stop{false};
  heist::executor<> ex{with_caller(3)};
  for (int i = 0; i < 2; ++i) {
    ex.post([&] {
      busy.fetch_add(1);
      while (!stop.load()) std::this_thread::yield();
    });
  }
  while (busy.load() != 2) std::this_thread::yield();
  for (int i = 0; i < 100; ++i) {
    auto const where = ex.run_here([&](auto) {
      CHECK(heist::current_worker() == 2);
      return std::this_thread::get_id();
    });
    CHECK(where == std::this_thread::get_id());
  }
  stop = true;
}

TEST_CASE("caller: all workers take part in a call", "[scheduler]") {
  heist::executor<> ex{with_caller(4)};
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> here{0};
    ex.run_here([&](heist::context ctx) {
      ctx.fork_join([&](auto) { meet(here, 4); }, [&](auto) { meet(here, 4); }, [&](auto) { meet(here, 4); },
                    [&](auto) { meet(here, 4); });
    });
    here = 0;
    heist::for_each_index(ex, 0, 4, [&](int) { meet(here, 4); });
  }
}

TEST_CASE("caller: the others do all work while nobody calls", "[scheduler]") {
  std::atomic<int> ran{0};
  heist::executor<> ex{with_caller(3)};
  for (int i = 0; i < 1000; ++i) ex.post([&] { ran.fetch_add(1); });
  CHECK(ex.submit([](heist::context ctx) {
            std::vector<int> values(10'000, 1);
            return heist::reduce(ctx, values.begin(), values.end(), 0);
          }).get() == 10'000);
  heist::task_graph g;
  auto first = g.emplace([&] { ran.fetch_add(1); });
  for (int i = 0; i < 99; ++i) {
    auto next = g.emplace([&] { ran.fetch_add(1); });
    first.precede(next);
  }
  ex.run_n(g, 10).get();
  ex.wait_idle();
  CHECK(ran.load() == 2000);
}

TEST_CASE("caller: what a call leaves behind is done", "[scheduler]") {
  heist::executor<> ex{with_caller(2)};
  for (int round = 0; round < 2000; ++round) {
    std::atomic<int> ran{0};
    std::atomic<bool> done{false};
    ex.run_here([&](heist::context) {
      for (int i = 0; i < round % 7; ++i) ex.post([&] { ran.fetch_add(1); });
      ex.post([&] { done = true; });
    });
    ex.wait_idle();
    CHECK(done.load());
    CHECK(ran.load() == round % 7);
  }
}

TEST_CASE("caller: a call that ends on another thread returns", "[scheduler]") {
  heist::executor<> ex{with_caller(2)};
  for (int round = 0; round < 500; ++round) {
    auto const value = ex.run_here([&](heist::context) {
      auto f = ex.submit([&] {
        if (round % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds{50});
        return round;
      });
      int const got = f.get();
      return got + ex.submit([] { return 1; }).get();
    });
    CHECK(value == round + 1);
  }
}

TEST_CASE("caller: a call that must stay on its thread is woken there, however long it has waited", "[scheduler]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    for (bool const has_place : {true, false}) {
      heist::executor<> ex{heist::options{.workers = workers, .caller_is_worker = has_place}};
      std::size_t const threads = workers - (has_place && workers > 1 ? 1 : 0);
      int came = 0;
      for (int round = 0; round < 60; ++round) {
        if (round % 2 != 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});  // the workers sleep
        ex.run_here([&](heist::context ctx) {
          heist::no_migrate const keep;
          std::size_t const other = (ctx.worker_id() + 1) % threads;
          if (workers == 1) {
            ex.submit([&] { ++came; }).get();
          } else {
            ex.submit(heist::with{.worker = other}, [&] {
                std::this_thread::sleep_for(std::chrono::microseconds{100 + round * 40});  // the call's worker sleeps
                ++came;
              }).get();
          }
        });
      }
      CHECK(came == 60);
    }
  }
}

TEST_CASE("caller: several threads call at once", "[scheduler]") {
  for (std::size_t const workers : {2u, 3u, 16u}) {
    std::atomic<long> sum{0};
    heist::executor<> ex{with_caller(workers)};
    std::vector<std::thread> callers;
    for (int t = 0; t < 4; ++t) {
      callers.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          heist::for_each_index(ex, 0, 20, [&](int k) { sum.fetch_add(k); });
          if (i % 10 == t) std::this_thread::sleep_for(std::chrono::microseconds{100});
          ex.submit([&] { sum.fetch_add(1); }).get();
        }
      });
    }
    for (auto& c : callers) c.join();
    CHECK(sum.load() == 4 * 200 * (190 + 1));
  }
}

TEST_CASE("caller: a call may block, throw, and have frames that stay on their worker", "[scheduler]") {
  heist::executor<> ex{with_caller(2)};
  for (int i = 0; i < 50; ++i) {
    CHECK_THROWS_AS(ex.run_here([](heist::context ctx) {
      ctx.blocking([] { std::this_thread::sleep_for(std::chrono::microseconds{200}); });
      throw std::runtime_error{"x"};
    }),
                    std::runtime_error);
    ex.run_here([&](heist::context) {
      heist::no_migrate const stays;
      auto const here = std::this_thread::get_id();
      ex.submit([] { std::this_thread::sleep_for(std::chrono::microseconds{50}); }).get();
      CHECK(std::this_thread::get_id() == here);
    });
  }
}

TEST_CASE("caller: child-first order, and a limit of threads", "[scheduler]") {
  struct child_first : heist::policy::with_order<heist::policy::random, heist::order::child_first> {};
  heist::thread_limit limit{2};
  heist::executor<child_first> ex{{.workers = 3, .limit = &limit, .caller_is_worker = true}};
  for (int i = 0; i < 200; ++i) {
    std::vector<int> values(1000);
    std::iota(values.begin(), values.end(), 0);
    CHECK(ex.run_here([&](auto ctx) { return heist::reduce(ctx, values.begin(), values.end(), 0); }) == 499'500);
    ex.submit([] {}).get();
  }
}

TEST_CASE("caller: nobody names a worker that may not be there", "[scheduler]") {
  heist::executor<> ex{with_caller(3)};
  CHECK(ex.submit(heist::with{.worker = 1}, [] { return *heist::current_worker(); }).get() == 1);
  CHECK_THROWS_AS(ex.submit(heist::with{.worker = 2}, [] {}), heist::executor_error);
}

TEST_CASE("caller: policies with tiers start all threads", "[scheduler]") {
  heist::options const wanted{
      .workers = 4, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1"), .caller_is_worker = true};
  CHECK(threads_of<heist::policy::cab>(wanted) == 4);
  heist::executor<heist::policy::cab> ex{wanted};
  CHECK(ex.submit(heist::with{.worker = 3}, [] { return *heist::current_worker(); }).get() == 3);
}

TEST_CASE("caller: joins that keep their worker have all threads", "[scheduler]") {
  struct leapfrog : heist::policy::with_join<heist::policy::random, heist::join::leapfrog> {};
  CHECK(threads_of<leapfrog>(with_caller(2)) == 2);
}

// A helper must not leave from the loop of a task on whose stack another task waits. The first call ends while that waits.
TEST_CASE("caller: a call ends while its thread has a join without a stack", "[scheduler]") {
  using std::chrono::milliseconds;
  for (bool const is_worker : {false, true}) {
    heist::executor<> other{1};
    heist::executor<> ex{{.workers = 3, .max_fibers = 5, .caller_is_worker = is_worker}};
    while (ex.sleeping_workers() != 3) std::this_thread::yield();
    std::atomic<int> busy{0};
    std::atomic<bool> first{false}, second{false}, call{false}, begun{false}, stolen{false}, child{false}, done{false};
    auto const until = [](std::atomic<bool>& is) {
      while (!is) std::this_thread::yield();
    };
    for (auto* const end : {&first, &second}) {
      ex.post([&, end] {
        ++busy;
        until(*end);
      });
    }
    while (busy != 2) std::this_thread::yield();
    auto waited_for = other.submit([&] { until(call); });
    std::thread others{[&] {
      std::this_thread::sleep_for(milliseconds{20});
      ex.post([&](heist::context ctx) {
        begun = true;
        ctx.fork_join([&](auto) { until(stolen); },
                      [&](auto) {
                        stolen = true;
                        until(child);
                      });
        done = true;
      });
      until(begun);
      first = true;
      until(stolen);
      std::this_thread::sleep_for(milliseconds{20});
      second = call = true;
      std::this_thread::sleep_for(milliseconds{50});
      child = true;
    }};
    ex.run_here([&](heist::context) { waited_for.get(); });
    others.join();
    ex.wait_idle();
    CHECK(done.load());
  }
}

TEST_CASE("caller: an executor that nobody has called ends", "[scheduler]") {
  for (int i = 0; i < 50; ++i) {
    heist::executor<> ex{with_caller(3)};
    if (i % 2 == 0) ex.post([] {});
    if (i % 5 == 0) ex.run_here([](auto) {});
  }
}

TEST_CASE("caller: a worker that is awake gives its place to a thread that calls again and again", "[scheduler]") {
  for (std::size_t const workers : {1, 2}) {
    heist::executor<> ex{workers};
    std::vector<heist::future<void>> busy;
    for (std::size_t i = 0; i != workers; ++i) busy.push_back(ex.submit([] { heist_test::yield(); }));
    for (auto& f : busy) f.get();
    auto const caller = std::this_thread::get_id();
    bool here = false;
    for (long calls = 0; !here && calls != 1'000'000; ++calls)
      here = ex.run_here([&](heist::context) { return std::this_thread::get_id() == caller; });
    CHECK(here);
  }
}

TEST_CASE("caller: places are given while others submit and call", "[scheduler]") {
  heist::executor<> ex{2};
  std::atomic<long> ended{0};
  constexpr int rounds = heist_test::slow ? 500 : 5000;
  std::vector<std::thread> threads;
  for (int t = 0; t != 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i != rounds; ++i) {
        if (t == 0) {
          ex.submit([&] { ++ended; }).get();
        } else {
          ex.run_here([&](heist::context c) { c.fork_join([&](auto) { ++ended; }, [](auto) {}); });
        }
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(ended == 3 * rounds);
}
