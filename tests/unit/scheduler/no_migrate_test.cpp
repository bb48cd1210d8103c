// heist::no_migrate keeps a task on its thread, whatever it forks, joins or waits for.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <thread>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/fork/scope.hpp"
#include "heist/sync.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::every_policy;
using heist_test::slow;

namespace {

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
                                            heist_test::yield();
                                            return fib(c, 7);
                                          });
        wrong += !here.same() + (a != 21) + (b != 13);
        ctx.fork_join([] { heist_test::yield(); }, [] { heist_test::yield(); }, [](auto c) { c.submit([] {}).get(); });
        wrong += !here.same();
        ctx.submit([] { heist_test::yield(); }).get();
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
    bool const right = ex.invoke([](auto ctx) {
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
    bool const right = ex.invoke([](auto ctx) {
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
  bool locked_remote = true;
  std::thread{[&] { locked_remote = m.try_lock(); }}.join();
  CHECK_FALSE(locked_remote);
  lock.unlock();
  heist::executor ex{1};
  CHECK(ex.invoke([] { return 1; }) == 1);
}

// One mutex for each task: while its holder is parked, its worker must not come upon a task that waits for it.
TEMPLATE_LIST_TEST_CASE("no_migrate: a heist::mutex is unlocked by the thread that locked it", "[sched]",
                        every_policy) {
  heist::executor<TestType> ex{4};
  heist_test::watchdog guard{ex, 60s, "mutex"};
  std::atomic<int> same{0};
  int const tasks = slow ? 50 : 300;
  for (int i = 0; i < tasks; ++i) {
    ex.post([&](auto ctx) {
      heist::no_migrate const stay;
      heist::mutex m;
      std::unique_lock lock{m};
      long const locked_by = this_thread();
      fib(ctx, 8);
      ctx.submit([] {}).get();
      same += this_thread() == locked_by;
      lock.unlock();
    });
  }
  ex.wait_idle();
  CHECK(same == tasks);
}
