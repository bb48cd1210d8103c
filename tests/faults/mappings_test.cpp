// No memory for stacks: tasks that wait still end, executors that cannot be made say so, old kernels guard too.
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "faults/interposer.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/wait_for.hpp"

using namespace std::chrono_literals;
using heist_test::run_child;

namespace {

using heist_test::fault;
using heist_test::forever;

using heist_test::slow;

long fib(heist::context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] =
      ctx.fork_join([&](heist::context c) { return fib(c, n - 1); }, [&](heist::context c) { return fib(c, n - 2); });
  return a + b;
}

/// Prints an executor's state every two seconds: a child that hangs shows where.
struct reporter {
  explicit reporter(heist::executor<>& ex)
      : thread{[this, &ex] {
          for (int i = 0; !over; ++i) {
            std::this_thread::sleep_for(10ms);
            if (i % 200 == 199) std::fprintf(stderr, "%s", ex.state_text().c_str());
          }
        }} {}
  ~reporter() {
    over = true;
    thread.join();
  }
  std::atomic<bool> over{false};
  std::thread thread;
};

/// Does a task that waits, or a waiter of that task, get stack_error?
template <class F>
bool is_rejected(F f) {
  try {
    f();
  } catch (heist::stack_error const&) {
    return true;
  }
  return false;
}

}  // namespace

TEST_CASE("stacks: the k-th cannot be mapped while an executor is made, for every k", "[faults]") {
  { heist::executor warmup{std::size_t{4}}; }
  for (int k = 0; k < 4; ++k) {
    fault no_more{site_of("stack mmap"), k + 1, forever};
    bool rejected = false;
    try {
      heist::executor ex{std::size_t{4}};
    } catch (heist::stack_error const& e) {
      rejected = std::string{e.what()}.find("fiber stack") != std::string::npos;
    }
    no_more.stop();
    CHECK(rejected);
    heist::executor again{std::size_t{4}};
    CHECK(again.invoke([] { return 1; }) == 1);
  }
}

TEST_CASE("stacks: on kernels without guards inside a mapping a protected region stands below", "[faults]") {
  fault const old_kernel{site_of("guard madvise"), 1, forever};
  auto s = heist::detail::stack::map(4096);
  for (std::ptrdiff_t const below : {std::ptrdiff_t{1}, std::ptrdiff_t{heist::detail::default_guard}}) {
    auto const overflows = run_child([&] { *static_cast<char volatile*>(s.bottom() - below) = 1; });
    CHECK_FALSE(overflows.clean());
  }
  auto const twin = run_child([&] { *static_cast<char volatile*>(s.bottom()) = 1; });
  CHECK(twin.clean());
  fault const no_protection{site_of("guard mprotect"), 1, forever};
  CHECK_THROWS_AS(heist::detail::stack::map(4096), heist::stack_error);
}

TEST_CASE("stacks: without a single one to spare, waits are refused, joins are not, and everything ends", "[faults]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    auto const report = run_child([workers] {
      heist::executor ex{workers};
      reporter const watch{ex};
      fault no_stacks{site_of("stack mmap"), 1, forever};
      std::function<long(int)> tree = [&](int left) -> long {
        if (left == 0) return 1;
        auto a = ex.submit([&tree, left] { return tree(left - 1); });
        auto b = ex.submit([&tree, left] { return tree(left - 1); });
        return a.get() + b.get();
      };
      int rejected = 0;
      for (int round = 0; round < 20; ++round) rejected += is_rejected([&] { ex.invoke([&] { return tree(6); }); });
      CHILD_REQUIRE(rejected == 20);
      is_rejected([&] { ex.wait_idle(); });  // clears the exceptions of tasks whose futures were dropped
      for (int round = 0; round < 20; ++round) {
        CHILD_REQUIRE(ex.invoke([&](heist::context ctx) { return fib(ctx, 14); }) == 377);
      }
      std::atomic<int> n{0};
      for (int i = 0; i < 200; ++i) {
        ex.post([&] {
          if (is_rejected([&] { n += ex.submit([] { return 1; }).get(); })) ++n;
        });
      }
      ex.wait_idle();
      CHILD_REQUIRE(n == 200);
      no_stacks.stop();
      CHILD_REQUIRE(ex.invoke([&] { return tree(6); }) == 64);
    });
    INFO(report.text());
    CHECK(report.clean());
  }
}

TEST_CASE("stacks: a frame that waits without one goes on, also after another parked frame has", "[faults]") {
  auto const report = run_child(
      [] {
        heist::executor ex{std::size_t{1}};
        reporter const watch{ex};
        heist::detail::completion first, second;
        std::atomic<int> steps{0};
        ex.post([&] {  // parks: there is memory
          ++steps;
          heist_test::wait_for(first);
          ++steps;
        });
        while (steps != 1) std::this_thread::sleep_for(1ms);
        ex.submit([] {}).get();  // the only worker comes to this when the first has parked
        fault no_stacks{site_of("stack mmap"), 1, forever};
        ex.post([&] {  // waits on top of its own frame
          ++steps;
          heist_test::wait_for(second);
          ++steps;
        });
        while (steps != 2) std::this_thread::sleep_for(1ms);
        ex.post([&] { first.complete(); });
        while (steps != 3) std::this_thread::sleep_for(1ms);
        ex.post([&] { second.complete(); });
        ex.wait_idle();
        CHILD_REQUIRE(steps == 4);
      },
      6s);
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("stacks: some are refused at random, everything ends", "[faults]") {
  for (long const chance : {2L, 3L, 7L}) {
    for (std::size_t const workers : {1u, 2u, 4u}) {
      auto const report = run_child(
          [=] {
            heist::executor ex{heist::options{.workers = workers, .stack_size = 65536}};
            reporter const watch{ex};
            fault const some{site_of("stack mmap"), fault::one_in{chance}};
            std::function<long(int)> tree = [&](int left) -> long {
              if (left == 0) return 1;
              auto a = ex.submit([&tree, left] { return tree(left - 1); });
              auto b = ex.submit([&tree, left] { return tree(left - 1); });
              return a.get() + b.get();
            };
            for (int round = 0; round < 30; ++round) {
              is_rejected([&] { CHILD_REQUIRE(ex.invoke([&] { return tree(7); }) == 128); });
            }
            is_rejected([&] { ex.wait_idle(); });  // as above
            std::atomic<int> n{0};
            for (int i = 0; i < 300; ++i) {
              ex.post([&] {
                if (is_rejected([&] { n += ex.submit([] { return 1; }).get(); })) ++n;
              });
            }
            ex.wait_idle();
            CHILD_REQUIRE(n == 300);
          },
          10s);
      INFO("one in " << chance << ", " << workers << " workers: " << report.text());
      CHECK(report.clean());
    }
  }
}

TEST_CASE("stacks: a limit on the address space is met by waiting tasks without harm", "[faults]") {
  if (slow) return heist_test::skipped("the sanitizers need more address space than any limit leaves");
  auto const report = run_child(
      [] {
        heist::executor ex{std::size_t{2}};
        reporter const watch{ex};
        ex.invoke([&] { return ex.submit([] {}).get(); });
        // Both workers' threads get their share of the heap: afterwards there would be no addresses for it.
        std::atomic<int> at_once{0};
        auto const allocate = [&] {
          ++at_once;
          while (at_once != 2) std::this_thread::yield();
          std::vector<std::unique_ptr<char[]>> blocks;
          for (int i = 0; i < 1000; ++i) blocks.push_back(std::make_unique<char[]>(1000));
        };
        auto here = ex.submit(allocate), there = ex.submit(allocate);
        here.get(), there.get();
        std::ifstream statm{"/proc/self/statm"};
        std::size_t pages = 0;
        statm >> pages;
        rlimit limit{};
        limit.rlim_cur = limit.rlim_max = pages * 4096 + (std::size_t{96} << 20);
        CHILD_REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
        std::function<int(int)> chain = [&](int left) -> int {
          if (left == 0) return 0;
          return 1 + ex.submit([&chain, left] { return chain(left - 1); }).get();
        };
        // 300 MiB of stacks would be needed to park all.
        CHILD_REQUIRE(is_rejected([&] { ex.invoke([&] { return chain(300); }); }));
        is_rejected([&] { ex.wait_idle(); });  // as above
        std::atomic<int> n{0};
        for (int i = 0; i < 500; ++i) {
          ex.post([&] {
            if (is_rejected([&] { n += ex.submit([] { return 1; }).get(); })) ++n;
          });
        }
        ex.wait_idle();
        CHILD_REQUIRE(n == 500);
      },
      10s);
  INFO(report.text());
  CHECK(report.clean());
}
