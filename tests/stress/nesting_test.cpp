// No task runs on top of a frame that waits. So a task on the same stack cannot ask for a lock that a frame holds over
// a join. Tasks that need each other at a join all get there. Waiting does not deepen stacks, however many tasks are
// stolen meanwhile.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"

namespace {

using child_first = heist::policy::with_order<heist::policy::random, heist::order::child_first>;

std::chrono::seconds limit() {
  return std::chrono::seconds{heist_test::stress_limit(60)};
}

void spin(int n) {
  for (; n != 0; --n) heist::os_env::relax();
}

/// How many are inside, and whether there ever were two.
class room {
 public:
  void enter() noexcept { crowded_ = crowded_ || inside_.fetch_add(1) != 0; }
  void leave() noexcept { inside_.fetch_sub(1); }
  bool was_crowded() const noexcept { return crowded_; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> crowded_{false};
};

template <class Context>
int sum_of_eight(Context c) {
  std::atomic<int> n{0};
  heist::scope<Context> s{c};
  for (int i = 0; i < 8; ++i) {
    s.fork([&] {
      spin(100);
      ++n;
    });
  }
  s.join();
  return n;
}

}  // namespace

// Each of many parallel calls takes the same lock and is parallel inside (rayon issue 592). With one worker no thief
// steals the inside, so it ends. With more workers it need not end, as no_migrate.hpp says. Once in some thousand
// rounds the holder's worker begins another call, and the program stands still.
TEMPLATE_TEST_CASE("nesting: a mutex around a parallel section, in parallel calls", "[stress]", heist::policy::random,
                   child_first) {
  {
    heist::executor<TestType> ex{1};
    heist_test::watchdog guard{ex, limit(), "a mutex around a parallel section"};
    std::mutex m;
    long guarded = 0;
    int const rounds = heist_test::stress_rounds(300);
    for (int round = 0; round < rounds; ++round) {
      ex.invoke([&](auto ctx) {
        heist::scope calls{ctx};
        for (int i = 0; i < 8; ++i) {
          calls.fork([&](auto c) {
            heist::no_migrate const stay;
            std::lock_guard const lock{m};
            guarded += sum_of_eight(c);
          });
        }
        calls.join();
      });
    }
    CHECK(guarded == 64L * rounds);
  }
}

// As many tasks as workers, which resume only together, each with joins between (polars pull request 22159).
TEMPLATE_TEST_CASE("nesting: tasks that meet again and again, with joins between", "[stress]", heist::policy::random,
                   child_first) {
  for (std::size_t const workers : {2u, 3u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, limit(), "tasks that meet"};
    int const meetings = heist_test::stress_rounds(200);
    std::atomic<long> here{0}, sum{0};
    for (std::size_t i = 0; i < workers; ++i) {
      ex.post([&](auto c) {
        for (int m = 1; m <= meetings; ++m) {
          sum += sum_of_eight(c);
          ++here;
          while (here < m * static_cast<long>(workers)) heist::os_env::yield();
        }
      });
    }
    ex.wait_idle();
    CHECK(sum == 8L * meetings * static_cast<long>(workers));
  }
}

// Data that a parallel graph makes when any task first needs it (Taskflow issue 506).
TEST_CASE("nesting: a value made once, by a graph within the graphs that need it", "[stress][graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, limit(), "a value made once"};
    for (int round = heist_test::stress_rounds(50); round > 0; --round) {
      heist::limiter one{1};
      room inside;
      int value = 0, made = 0;
      heist::task_graph users;
      std::atomic<long> sum{0};
      for (int i = 0; i < 16; ++i) {
        users.emplace([&](heist::context c) {
          heist::task_graph look;  // the critical section, as a graph of its own
          look.emplace([&](heist::context d) {
                inside.enter();
                if (value == 0) {
                  ++made;
                  heist::task_graph factory;
                  std::atomic<int> parts{0};
                  for (int k = 0; k < 6; ++k) factory.emplace([&] { spin(50), ++parts; });
                  d.run(factory).get();  // it waits, and holds the limiter meanwhile
                  value = parts + sum_of_eight(d);
                }
                inside.leave();
              })
              .limit(one);
          c.run(look).get();
          sum += value;
        });
      }
      ex.run_n(users, 2).get();
      REQUIRE(made == 1);
      REQUIRE(sum == 14L * 32);
      REQUIRE_FALSE(inside.was_crowded());
      REQUIRE(one.available() == 1);
    }
  }
}

// One task holds the first limiter for long, one holds the second and waits for the first, one waits for the second.
// All three come in any order on few workers. And the same around a module, from which other workers steal (Taskflow
// issue 647, both cases).
TEST_CASE("nesting: limiters held over other tasks and over modules", "[stress][graph]") {
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, limit(), "limiters held over tasks and modules"};
    heist::limiter first{1}, second{1}, third{1};
    std::atomic<int> n{0};
    auto const work = [&n](int length) {
      return [&n, length] {
        spin(length);
        ++n;
      };
    };
    heist::task_graph two_locks;
    for (int i = 0; i < 4; ++i) {
      two_locks.emplace(work(2000)).limit(first);
      auto takes = two_locks.emplace(work(10)).acquire(second);
      auto both = two_locks.emplace(work(10)).limit(first);
      auto gives = two_locks.emplace(work(10)).release(second);
      takes.precede(both);
      both.precede(gives);
      two_locks.emplace(work(10)).limit(second);
    }
    heist::task_graph parts, around_module;
    for (int i = 0; i < 4; ++i) parts.emplace(work(i == 0 ? 2000 : 10));
    auto takes = around_module.emplace(work(10)).acquire(third);
    auto module = around_module.compose(parts);
    auto gives = around_module.emplace(work(10)).release(third);
    takes.precede(module);
    module.precede(gives);
    for (int i = 0; i < 8; ++i) around_module.emplace(work(200)).limit(third);
    int const rounds = heist_test::stress_rounds(200);
    for (int round = 0; round < rounds; ++round) {
      auto a = ex.run(two_locks);
      auto b = ex.run(around_module);
      a.get(), b.get();
    }
    CHECK(n == rounds * (4 * 5 + 4 + 2 + 8));
    CHECK((first.available() == 1 && second.available() == 1 && third.available() == 1));
  }
}

// Chains take a limiter at their beginning and give it back at their end, and break in between (Taskflow issue 732).
TEST_CASE("nesting: chains that throw between taking a limiter and giving it back", "[stress][graph]") {
  for (std::size_t const size : {1u, 3u}) {
    heist::executor ex{size * 2};
    heist_test::watchdog guard{ex, limit(), "chains that throw"};
    heist::limiter held{size};
    heist::task_graph g;
    std::atomic<bool> fails{true};
    std::atomic<int> after{0};
    auto init = g.emplace([] {});
    for (std::size_t i = 0; i < size * 4; ++i) {
      auto a = g.emplace([] {}).acquire(held);
      auto b = g.emplace([&] {
        spin(1000);
        if (fails) throw std::runtime_error{"between"};
      });
      auto c = g.emplace([&] { ++after; });
      auto d = g.emplace([] {}).release(held);
      init.precede(a), a.precede(b), b.precede(c), c.precede(d);
    }
    for (int round = heist_test::stress_rounds(100); round > 0; --round) {
      fails = true;
      CHECK_THROWS_WITH(ex.run(g).get(), "between");
      REQUIRE(held.available() == size);
      REQUIRE(after == 0);
      fails = false;
      ex.run(g).get();
      REQUIRE(held.available() == size);
      REQUIRE(after.exchange(0) == static_cast<int>(size * 4));
    }
  }
}

// Ten thousand tasks, each of which waits for one that is stolen or runs meanwhile, on stacks and threads of the
// smallest sizes. If a worker ran other tasks on top of a frame that waits, the guard would be hit.
TEMPLATE_TEST_CASE("nesting: ten thousand waits, and stealing meanwhile, on small stacks", "[stress]",
                   heist::policy::random, child_first) {
  pthread_attr_t before, small;
  REQUIRE(::pthread_getattr_default_np(&before) == 0);
  REQUIRE(::pthread_getattr_default_np(&small) == 0);
  REQUIRE(::pthread_attr_setstacksize(&small, std::size_t{128} << 10) == 0);
  if (!heist::under_asan && !heist::under_tsan) REQUIRE(::pthread_setattr_default_np(&small) == 0);
  for (std::size_t const workers : {1u, 2u, 4u}) {
    constexpr std::size_t stack = (heist::under_asan || heist::under_tsan ? std::size_t{128} : std::size_t{32}) << 10;
    heist::executor<TestType> ex{heist::options{.workers = workers, .stack_size = stack, .max_fibers = 20'000}};
    heist_test::watchdog guard{ex, limit(), "ten thousand waits"};
    int const tasks = heist_test::stress_rounds(10'000);
    std::atomic<int> n{0};
    std::atomic<bool> last{false};
    // All wait at once: for the one that comes last, and for each other's children.
    for (int i = 0; i < tasks; ++i) {
      ex.post([&](auto c) {
        auto const [a, b] = c.fork_join([&](auto d) { return d.submit([] { return 1; }).get(); }, [] { return 1; });
        n += a + b;
      });
    }
    ex.wait_idle();
    CHECK(n == 2 * tasks);
    // A chain: each frame waits for the next one, down to the last.
    struct link {
      std::atomic<bool>& last;
      int left;
      int operator()(typename heist::executor<TestType>::context_type c) const {
        if (left == 0) {
          last = true;
          return 0;
        }
        return 1 + c.submit(link{last, left - 1}).get();
      }
    };
    CHECK(ex.invoke(link{last, tasks}) == tasks);
    CHECK(last);
  }
  REQUIRE(::pthread_setattr_default_np(&before) == 0);
  ::pthread_attr_destroy(&small);
  ::pthread_attr_destroy(&before);
}
