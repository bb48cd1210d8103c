// Tests with 2 to 64 workers: sleepers that wake, lines with many waiters, regions with many squads, stops while all
// workers are busy. Bodies wait for each other, so that the tests need no clock.
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <latch>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/meet_point.hpp"
#include "support/watchdog.hpp"

#include "heist/algorithm.hpp"
#include "heist/automatic.hpp"
#include "heist/coroutine.hpp"
#include "heist/executor.hpp"
#include "heist/flow.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/pipeline.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/sync.hpp"
#include "heist/tiers.hpp"

using heist_test::halves;
using heist_test::meet_point;
using heist_test::meets;
using heist_test::slow;
using heist_test::watchdog;
using heist_test::worker_counts;

namespace {

constexpr std::chrono::seconds limit{120};
using parent_first = heist::policy::random;

template <class Executor>
void all_asleep(Executor const& ex, std::size_t n) {
  while (ex.sleeping_workers() != n) std::this_thread::yield();
}

}  // namespace

TEST_CASE("many workers: work that comes while all sleep wakes as many as it needs", "[sched]") {
  meets<parent_first>("posts", [](auto& ex, std::size_t n, meet_point& m) {
    all_asleep(ex, n);
    for (std::size_t i = 0; i != n; ++i) ex.post([&m] { m(); });
    ex.wait_idle();
  });
  meets<parent_first>("posts in a task", [](auto& ex, std::size_t n, meet_point& m) {
    all_asleep(ex, n);
    ex.post([&, n] {
      for (std::size_t i = 0; i != n; ++i) ex.post([&m] { m(); });
    });
    ex.wait_idle();
  });
  meets<parent_first>("a graph", [](auto& ex, std::size_t n, meet_point& m) {
    all_asleep(ex, n);
    heist::task_graph g;
    for (std::size_t i = 0; i != n; ++i) g.emplace([&m] { m(); });
    ex.run(g).get();
  });
  meets<parent_first>("forks", [](auto& ex, std::size_t n, meet_point& m) {
    all_asleep(ex, n);
    ex.invoke([&](heist::context c) { halves(c, n, m); });
  });
  meets<parent_first>("a loop", [](auto& ex, std::size_t n, meet_point& m) {
    all_asleep(ex, n);
    heist::for_each_index(ex, std::size_t{0}, n, [&m](std::size_t) { m(); });
  });
}

TEST_CASE("many workers: a limiter lets in as many as it has permits, again and again", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> ex{n};
    watchdog guard{"limiter", limit, [&] { return ex.state_text(); }};
    for (std::size_t const permits : {std::size_t{1}, n / 2, n}) {
      // Groups of `permits` tasks meet. If a released permit woke no task, the tasks would never meet.
      heist::limiter most{permits};
      meet_point m{permits};
      heist::task_graph g;
      for (std::size_t i = 0; i != 8 * permits; ++i) g.emplace([&m] { m(); }).limit(most);
      ex.run_n(g, 3).get();
      CHECK(m.met() == 24 * permits);
    }
  }
}

TEST_CASE("many workers: a mutex that all want", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> ex{n};
    watchdog guard{"mutex", limit, [&] { return ex.state_text(); }};
    heist::mutex one;
    std::size_t count = 0;
    meet_point m{n};
    for (std::size_t i = 0; i != n; ++i) {
      ex.post([&] {
        m();
        for (int k = 0; k != 100; ++k) {
          std::lock_guard const lock{one};
          ++count;
          if (k % 10 == 0) std::this_thread::yield();
        }
      });
    }
    ex.wait_idle();
    CHECK(count == 100 * n);
  }
}

TEST_CASE("many workers: urgent tasks begin before the others, on whatever worker", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> ex{n};
    watchdog guard{"priority", limit, [&] { return ex.state_text(); }};
    meet_point m{n};
    heist::task_graph g;
    auto first = g.emplace([] {});
    std::atomic<std::size_t> too_early{0};
    for (std::size_t i = 0; i != 4 * n; ++i) {
      auto const other = [&] { too_early += m.met() < n ? 1 : 0; };
      auto one = i % 4 == 0 ? g.emplace([&m] { m(); }) : g.emplace(other);
      one.priority(i % 4 == 0 ? heist::priority::high : heist::priority::low);
      first.precede(one);
    }
    ex.run_n(g, 1).get();
    CHECK(m.met() == n);
    CHECK(too_early == 0);
  }
}

TEST_CASE("many workers: pipelines with more lines than workers", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> ex{n};
    watchdog guard{"pipeline", limit, [&] { return ex.state_text(); }};
    meet_point m{n};
    std::size_t made = 0, out = 0;
    heist::pipeline p{4 * n, heist::serial_stage([&](heist::token& t) {
                        if (made == 6 * n) t.stop();
                        return made++;
                      }),
                      heist::parallel_stage([&m](std::size_t i) {
                        m();
                        return i;
                      }),
                      heist::serial_stage([&out](std::size_t i) { CHECK(i == out++); })};
    ex.run(p).get();
    CHECK(m.met() == 6 * n);
    CHECK(out == 6 * n);
  }
}

TEST_CASE("many workers: readers of a datum, between two writers", "[sched]") {
  meets<parent_first>("flow", [](auto& ex, std::size_t n, meet_point& m) {
    heist::flow f{ex};
    heist::datum<int> number{f, 1};
    std::atomic<int> sum{0};
    f.task([](int& x) { x = 2; }, heist::update(number));
    for (std::size_t i = 0; i != n; ++i) {
      f.task(
          [&](int const& x) {
            m();
            sum += x;
          },
          heist::read(number));
    }
    f.task([](int& x) { x = 3; }, heist::update(number));
    CHECK(number.value() == 3);
    f.wait();
    CHECK(sum == static_cast<int>(2 * n));
  });
}

TEST_CASE("many workers: coroutines that move to the executor", "[sched]") {
  meets<parent_first>("coroutines", [](auto& ex, std::size_t n, meet_point& m) {
    auto const body = [](heist::executor<>& on, meet_point& of) -> heist::coroutine<int> {
      co_await heist::resume_on(on);
      of();
      co_return co_await on.submit([] { return 1; });
    };
    std::vector<std::thread> waiting;
    std::atomic<int> sum{0};
    for (std::size_t i = 0; i != n; ++i) waiting.emplace_back([&] { sum += heist::sync_wait(body(ex, m)); });
    for (auto& one : waiting) one.join();
    CHECK(sum == static_cast<int>(n));
  });
}

TEST_CASE("many workers: calls that block, as many as there are workers, and the work beside them", "[sched]") {
  meets<parent_first>("blocking", [](auto& ex, std::size_t n, meet_point& m) {
    meet_point both{2 * n};
    for (std::size_t i = 0; i != n; ++i) ex.post([&](auto ctx) { ctx.blocking([&] { both(); }); });
    for (std::size_t i = 0; i != n; ++i) {
      ex.post([&] {
        both();
        m();
      });
    }
    ex.wait_idle();
  });
}

TEST_CASE("many workers: two executors at a time", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> a{n}, b{n};
    watchdog guard{"two executors", limit, [&] { return a.state_text() + b.state_text(); }};
    for (int round = 0; round != 3; ++round) {
      meet_point m{2 * n};
      auto of_b = a.submit([&] { b.invoke([&](heist::context c) { halves(c, n, m); }); });
      // The task of a that waits for b's work lets another one in.
      a.invoke([&](heist::context c) { halves(c, n, m); });
      of_b.get();
      CHECK(m.met() == 2 * n);
    }
  }
}

TEMPLATE_TEST_CASE("many workers: regions with 2 to 8 squads", "[sched]", heist::policy::cab, heist::policy::cats) {
  std::vector<std::size_t> const squad_counts = slow ? std::vector<std::size_t>{2} : std::vector<std::size_t>{2, 4, 8};
  for (std::size_t const squads : squad_counts) {
    for (std::size_t const each : {std::size_t{1}, std::size_t{3}}) {
      std::size_t const n = squads * each;
      INFO(squads << " squads of " << each);
      heist::executor<TestType> ex{
          {.workers = n,
           .machine = heist::topology::parse("package:" + std::to_string(squads) +
                                             " l3:1(size=1MiB) core:" + std::to_string(each) + " pu:1"),
           .squads = heist::squad_by::package}};
      using context = typename heist::executor<TestType>::context_type;
      watchdog guard{ex, limit};
      std::optional<std::uint32_t> const levels[] = {0, 1 + static_cast<std::uint32_t>(std::countr_zero(squads))};
      for (auto const level : levels) {
        heist::region r{{.branching = 2, .bytes = 64 << 20, .boundary_level = level}};
        for (int round = 0; round != 4; ++round) {
          // Each squad takes one of the inter-squad tasks. Inside it, one body for each worker of the squad.
          meet_point m{n};
          ex.invoke(r, [&](context c) {
            auto const divide = [&](auto const& self, context in, std::size_t left) -> void {
              if (left == 1) return halves(in, each, m);
              in.fork_join([&](context d) { self(self, d, left / 2); }, [&](context d) { self(self, d, left / 2); });
            };
            divide(divide, c, squads);
          });
          CHECK(m.met() == n);
        }
      }
    }
  }
}

TEST_CASE("many workers: a steal tree of bodies that met can be followed", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<heist::policy::replay> ex{n};
    using context = heist::executor<heist::policy::replay>::context_type;
    watchdog guard{ex, limit};
    heist::region recorded;
    auto const run = [&](heist::region& r) {
      meet_point m{n};
      ex.invoke(r, [&](context c) { halves(c, n, m); });
      CHECK(m.met() == n);
    };
    run(recorded);
    CHECK(recorded.tree().steal_count() + 1 >= n);
    for (auto const mode :
         {heist::replay_mode::strict_ordered, heist::replay_mode::strict_unordered, heist::replay_mode::relaxed}) {
      heist::region again;
      again.follow(recorded.tree(), mode);
      for (int round = 0; round != 3; ++round) run(again);
      CHECK(again.explain().empty());
    }
  }
}

TEST_CASE("many workers: automatic, whatever it tries", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<heist::policy::automatic> ex{n};
    watchdog guard{ex, limit};
    meet_point m{n};
    heist::task_graph g;
    for (std::size_t i = 0; i != n; ++i) g.emplace([&m] { m(); });
    std::size_t const passes = n > 16 ? 20 : 60;
    for (std::size_t i = 0; i != passes; ++i) ex.run(g).get();
    CHECK(m.met() == passes * n);
  }
}

TEST_CASE("many workers: a stop reaches all of them while they are busy", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> ex{n};
    watchdog guard{"stop", limit, [&] { return ex.state_text(); }};
    std::latch* all = nullptr;
    std::atomic<std::size_t> stopped{0};
    auto const busy = [&](auto ctx) {
      all->count_down();
      while (!ctx.stop_requested()) std::this_thread::yield();
      ++stopped;
    };
    {
      std::latch begun{static_cast<std::ptrdiff_t>(n)};
      all = &begun;
      heist::task_graph g;
      for (std::size_t i = 0; i != n; ++i) g.emplace(busy);
      auto run = ex.run(g);
      begun.wait();
      run.request_stop();
      run.wait();
      CHECK(stopped.exchange(0) == n);
    }
    {
      std::latch begun{static_cast<std::ptrdiff_t>(n)};
      all = &begun;
      std::stop_source source;
      std::thread asks{[&] {
        begun.wait();
        source.request_stop();
      }};
      ex.invoke(heist::with{.stop = source.get_token()}, [&](heist::context c) {
        heist::scope s{c};
        for (std::size_t i = 0; i != n; ++i) s.fork(busy);
      });
      asks.join();
      CHECK(stopped.exchange(0) == n);
    }
    {
      // One task of a graph throws when all have begun: the others are told.
      std::latch begun{static_cast<std::ptrdiff_t>(n)};
      all = &begun;
      heist::task_graph g;
      for (std::size_t i = 1; i != n; ++i) g.emplace(busy);
      g.emplace([&] {
        begun.arrive_and_wait();
        throw std::runtime_error{"thrown"};
      });
      CHECK_THROWS_WITH(ex.run(g).get(), "thrown");
      CHECK(stopped.exchange(0) == n - 1);
    }
    {
      std::latch begun{static_cast<std::ptrdiff_t>(n)};
      all = &begun;
      ex.invoke([&](heist::context c) {
        heist::scope s{c};
        for (std::size_t i = 1; i != n; ++i) s.fork(busy);
        s.fork([&] {
          begun.arrive_and_wait();
          s.request_stop();
        });
      });
      CHECK(stopped.exchange(0) == n - 1);
    }
  }
}
