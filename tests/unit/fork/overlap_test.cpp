// Coarse tasks overlap: each task waits for another task's flag, so a task that no thief can take causes a hang.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include "heist/tools/observe/counters.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::every_policy;
using heist_test::slow;

namespace {

/// Tasks come by in groups; each resumes when its group is complete.
class rendezvous {
 public:
  explicit rendezvous(int group) : group_{group} {}
  void meet() {
    int const mine = came_.fetch_add(1);
    int const complete = (mine / group_ + 1) * group_;
    while (came_ < complete) std::this_thread::yield();
  }
  int came() const { return came_; }

 private:
  int const group_;
  std::atomic<int> came_{0};
};

/// Leaves the task stack and the continuations in ever different states.
template <class Context>
int stir(Context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] =
      ctx.fork_join([=](Context c) { return stir(c, n - 1); }, [=](Context c) { return stir(c, n - 2); });
  return a + b;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("overlap: two coarse tasks on two workers or more", "[fork]", every_policy) {
  for (std::size_t const workers : {2u, 3u, 5u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "two coarse tasks"};
    for (int round = 0; round < (slow ? 20 : 100); ++round) {
      rendezvous r{2};
      ex.invoke([&](auto ctx) { ctx.fork_join([&] { r.meet(); }, [&] { r.meet(); }); });
      REQUIRE(r.came() == 2);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("overlap: again and again in one task, between finer forks", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "many rounds"};
  int const rounds = slow ? 100 : 500;
  rendezvous r{2};
  ex.invoke([&](auto ctx) {
    for (int round = 0; round < rounds; ++round) {
      stir(ctx, round % 9);
      ctx.fork_join([&] { r.meet(); }, [&] { r.meet(); });
    }
  });
  CHECK(r.came() == 2 * rounds);
}

TEMPLATE_LIST_TEST_CASE("overlap: with the context that asks the executor for its order", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "heist::context"};
  for (int round = 0; round < (slow ? 20 : 100); ++round) {
    rendezvous r{2};
    ex.invoke([&](heist::context ctx) {
      ctx.fork_join([&](heist::context) { r.meet(); }, [&](heist::context) { r.meet(); });
    });
    REQUIRE(r.came() == 2);
  }
}

TEMPLATE_LIST_TEST_CASE("overlap: four coarse tasks of one fork_join, two at a time", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "four coarse tasks"};
  for (int round = 0; round < (slow ? 20 : 100); ++round) {
    rendezvous r{2};
    auto const f = [&] { r.meet(); };
    ex.invoke([&](auto ctx) { ctx.fork_join(f, f, f, f); });
    REQUIRE(r.came() == 4);
  }
}

TEMPLATE_LIST_TEST_CASE("overlap: four coarse tasks of one fork_join, all at once on four workers", "[fork]",
                        every_policy) {
  heist::executor<TestType> ex{4};
  heist_test::watchdog guard{ex, 60s, "four at once"};
  for (int round = 0; round < (slow ? 20 : 100); ++round) {
    rendezvous r{4};
    auto const f = [&] { r.meet(); };
    ex.invoke([&](auto ctx) { ctx.fork_join(f, f, f, f); });
    REQUIRE(r.came() == 4);
  }
}

TEMPLATE_LIST_TEST_CASE("overlap: two coarse children of a scope", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "scope"};
  for (int round = 0; round < (slow ? 20 : 100); ++round) {
    rendezvous r{2};
    ex.invoke([&](auto ctx) {
      heist::scope s{ctx};
      for (int i = 0; i < 4; ++i) s.fork([&] { r.meet(); });
    });
    REQUIRE(r.came() == 4);
  }
}

TEMPLATE_LIST_TEST_CASE("overlap: a task forked while all other workers sleep wakes one", "[fork]", every_policy) {
  for (std::size_t const workers : {2u, 4u}) {
    heist::executor<TestType, heist::counters> ex{heist::options{.workers = workers}};
    heist_test::watchdog guard{ex, 60s, "sleepers"};
    auto const all_others_sleep = [&] {
      auto const c = ex.observer().total();
      return c.sleeps - c.wakes == workers - 1;
    };
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      rendezvous r{2};
      ex.invoke([&](auto ctx) {
        while (!all_others_sleep()) std::this_thread::yield();
        ctx.fork_join([&] { r.meet(); }, [&] { r.meet(); });
      });
      REQUIRE(r.came() == 2);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("overlap: a child of a scope forked while all other workers sleep wakes one", "[fork]",
                        every_policy) {
  heist::executor<TestType, heist::counters> ex{heist::options{.workers = 3}};
  heist_test::watchdog guard{ex, 60s, "sleepers and a scope"};
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    rendezvous r{2};
    ex.invoke([&](auto ctx) {
      for (auto c = ex.observer().total(); c.sleeps - c.wakes != 2; c = ex.observer().total())
        std::this_thread::yield();
      heist::scope s{ctx};
      s.fork([&] { r.meet(); });
      s.fork([&] { r.meet(); });
    });
    REQUIRE(r.came() == 2);
  }
}

namespace {

/// Forks a chain of tasks, each of which counts itself in `run`. The bottom of the chain forks light tasks until all
/// tasks of the chain have run, so only thieves can run them.
template <class Context>
void chain(Context ctx, int left, std::atomic<int>& run, int all) {
  if (left == 0) {
    while (run != all) stir(ctx, 4);
    return;
  }
  ctx.fork_join([&, left](Context c) { chain(c, left - 1, run, all); }, [&] { ++run; });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("overlap: tasks deep in a recursion do not stay private while their owner forks", "[fork]",
                        every_policy) {
  for (std::size_t const workers : {2u, 3u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "private tasks"};
    for (int round = 0; round < (slow ? 5 : 10); ++round) {
      int const all = 1 + 4 * round;
      std::atomic<int> run{0};
      ex.invoke([&](auto ctx) { chain(ctx, all, run, all); });
      REQUIRE(run == all);
    }
  }
}
