// heist::no_migrate keeps a task on its thread; heist::mutex notices where that is needed.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>

#include "faults/child_process.hpp"
#include "heist/fork/scope.hpp"
#include "heist/sched/no_migrate.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::every_policy;
using heist_test::slow;

namespace {

#ifdef NDEBUG
constexpr bool asserts = false;
#else
constexpr bool asserts = true;
#endif

/// Asks the kernel: a compiler may take std::this_thread::get_id() to be the same in all of a function.
long this_thread() noexcept {
  return ::syscall(SYS_gettid);
}

/// Does a task stay where it is?
template <class Context>
class place {
 public:
  explicit place(Context ctx) : ctx_{ctx}, worker_{ctx.worker_id()}, thread_{this_thread()} {}
  bool same() const { return ctx_.worker_id() == worker_ && this_thread() == thread_; }

 private:
  Context ctx_;
  std::size_t worker_;
  long thread_;
};

template <class Context>
int fib(Context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] = ctx.fork_join([=](Context c) { return fib(c, n - 1); }, [=](Context c) { return fib(c, n - 2); });
  return a + b;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("no_migrate: forks, joins, scopes and waits for futures leave the task on its thread",
                        "[sched]", every_policy) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "no_migrate"};
    std::atomic<int> wrong{0}, ran{0};
    for (int i = 0; i < (slow ? 20 : 100); ++i) {
      ex.post([&](auto ctx) {
        heist::no_migrate const stay;
        place const here{ctx};
        auto const [a, b] = ctx.fork_join([](auto c) { return fib(c, 8); },
                                          [](auto c) {
                                            std::this_thread::yield();
                                            return fib(c, 7);
                                          });
        wrong += !here.same() + (a != 21) + (b != 13);
        ctx.fork_join([] { std::this_thread::yield(); }, [] { std::this_thread::yield(); },
                      [](auto c) { c.submit([] {}).get(); });
        wrong += !here.same();
        ctx.submit([] { std::this_thread::yield(); }).get();
        wrong += !here.same();
        {
          heist::scope s{ctx};
          for (int k = 0; k < 10; ++k) s.fork([&ran] { ++ran; });
        }
        wrong += !here.same();
      });
    }
    ex.wait_idle();
    CHECK(wrong == 0);
    CHECK(ran == (slow ? 200 : 1000));
  }
}

TEMPLATE_LIST_TEST_CASE("no_migrate: guards nest, and end", "[sched]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "nested guards"};
  for (int round = 0; round < (slow ? 20 : 200); ++round) {
    bool const right = ex.sync_wait([](auto ctx) {
      place const here{ctx};
      bool same = true;
      {
        heist::no_migrate const outer;
        {
          heist::no_migrate const inner;
          ctx.submit([] {}).get();
          same = same && here.same();
        }
        ctx.submit([] {}).get();
        fib(ctx, 6);
        same = same && here.same();
      }
      fib(ctx, 6);  // may go elsewhere from here on
      return same;
    });
    REQUIRE(right);
  }
}

TEST_CASE("no_migrate: what a guarded task forks still runs on other workers", "[sched]") {
  heist::executor<heist_test::parent_first> ex{2};
  heist_test::watchdog guard{ex, 60s, "guarded, and stolen from"};
  for (int round = 0; round < (slow ? 20 : 200); ++round) {
    bool const right = ex.sync_wait([](auto ctx) {
      heist::no_migrate const stay;
      place const here{ctx};
      std::atomic<int> both{0};
      auto const meet = [&] {
        ++both;
        while (both != 2) std::this_thread::yield();
      };
      ctx.fork_join(meet, meet);
      return here.same();
    });
    REQUIRE(right);
  }
}

TEST_CASE("no_migrate: outside of tasks guards and mutexes are only that", "[sched]") {
  heist::no_migrate const stay;
  heist::mutex m;
  std::unique_lock lock{m};
  bool locked_elsewhere = true;
  std::thread{[&] { locked_elsewhere = m.try_lock(); }}.join();
  CHECK_FALSE(locked_elsewhere);
  lock.unlock();
  heist::executor ex{1};
  CHECK(ex.sync_wait([] { return 1; }) == 1);
}

TEMPLATE_LIST_TEST_CASE("no_migrate: a heist::mutex under a guard is unlocked by the thread that locked it", "[sched]",
                        every_policy) {
  heist::executor<TestType> ex{4};
  heist_test::watchdog guard{ex, 60s, "mutex"};
  heist::mutex m;
  int plain = 0;
  int const tasks = slow ? 50 : 300;
  for (int i = 0; i < tasks; ++i) {
    ex.post([&](auto ctx) {
      heist::no_migrate const stay;
      std::lock_guard const lock{m};  // held over the forks: what they run does not take it
      ++plain;
      fib(ctx, 5);
    });
  }
  ex.wait_idle();
  CHECK(plain == tasks);
}

namespace {

template <class Policy, class F>
heist_test::child_report in_a_child(std::size_t workers, F f) {
  return heist_test::run_child([&] {
    heist::executor<Policy> ex{workers};
    ex.sync_wait([&](auto ctx) { f(ctx); });
  });
}

/// In debug builds the program ends with a sentence that says all of `words`; in others it just goes on.
void check_ends_in_debug_builds(heist_test::child_report const& report, char const* words) {
  INFO(report.text());
  CHECK_FALSE(report.hung);
  if (asserts) {
    CHECK(report.signal == SIGABRT);
    CHECK(report.says(words));
    CHECK(report.says("mend it by"));
  } else {
    CHECK(report.clean());
  }
}

}  // namespace

TEST_CASE("mutex: held over a child-first fork, debug builds say so", "[sched]") {
  heist::mutex m;
  auto const body = [&](auto ctx) {
    std::lock_guard const lock{m};
    ctx.fork_join([] {}, [] {});
  };
  check_ends_in_debug_builds(in_a_child<heist_test::child_first>(1, body), "holds a heist::mutex");
  auto const parent_first = in_a_child<heist_test::parent_first>(1, body);  // nothing waits
  INFO(parent_first.text());
  CHECK(parent_first.clean());
}

TEMPLATE_LIST_TEST_CASE("mutex: held while the task parks, debug builds say so", "[sched]", heist_test::both_orders) {
  heist::mutex m;
  auto const report = in_a_child<TestType>(1, [&](auto ctx) {
    std::lock_guard const lock{m};
    ctx.submit([] {}).get();
  });
  check_ends_in_debug_builds(report, "holds a heist::mutex");
}

TEMPLATE_LIST_TEST_CASE("mutex: under a guard, or unlocked before, nobody complains", "[sched]",
                        heist_test::both_orders) {
  heist::mutex m;
  auto const guarded = in_a_child<TestType>(1, [&](auto ctx) {
    heist::no_migrate const stay;
    std::lock_guard const lock{m};
    ctx.fork_join([] {}, [] {});
    ctx.submit([] {}).get();
  });
  INFO(guarded.text());
  CHECK(guarded.clean());
  auto const unlocked = in_a_child<TestType>(2, [&](auto ctx) {
    for (int i = 0; i < 100; ++i) {
      if (m.try_lock()) m.unlock();
      { std::lock_guard const lock{m}; }
      ctx.fork_join([] {}, [] {});
      ctx.submit([] {}).get();
    }
  });
  INFO(unlocked.text());
  CHECK(unlocked.clean());
}

TEST_CASE("child-first forks in a handler, or while a destructor unwinds: debug builds say so", "[sched]") {
  auto const in_handler = [](auto ctx) {
    try {
      throw 1;
    } catch (int) {
      ctx.fork_join([] {}, [] {});
    }
  };
  auto const report = in_a_child<heist_test::child_first>(1, in_handler);
  check_ends_in_debug_builds(report, "catch block");
  auto const parent_first = in_a_child<heist_test::parent_first>(1, in_handler);
  INFO(parent_first.text());
  CHECK(parent_first.clean());
  auto const after_handler = in_a_child<heist_test::child_first>(1, [](auto ctx) {
    try {
      throw 1;
    } catch (int) {
    }
    ctx.fork_join([] {}, [] {});
  });
  INFO(after_handler.text());
  CHECK(after_handler.clean());
}
