// Tests docs/inherited.md, row by row. A task inherits state from the thread that made the executor, and from the code
// that started the task. The task keeps some state over its own waits, and leaves some state to the next task.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <clocale>
#include <cmath>
#include <csignal>
#include <cstring>
#include <exception>
#include <locale>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/algorithm.hpp"
#include "heist/coroutine.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "support/meet_point.hpp"
#include "support/migrate.hpp"
#include "support/rounding.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using heist_test::child_first;
using heist_test::meet_point;
using heist_test::mode_in_use;
using heist_test::parent_first;
using heist_test::rounding;
using heist_test::wait_until;
using namespace std::chrono_literals;

namespace {

/// The results of `f()` on all workers of `ex`, by tasks of which each has a worker of its own.
template <class Executor, class F>
auto on_all_workers(Executor& ex, F f) {
  using result = decltype(f());
  std::vector<heist::future<result>> all;
  meet_point everybody{ex.worker_count()};
  for (std::size_t i = 0; i != ex.worker_count(); ++i) {
    all.push_back(ex.submit([&] {
      everybody();
      return f();
    }));
  }
  std::vector<result> seen;
  for (auto& one : all) seen.push_back(one.get());
  return seen;
}

#if HEIST_COROUTINES
heist::coroutine<std::array<int, 2>> modes_of_coroutine(heist::executor<>& ex) {
  co_await heist::resume_on(ex);
  int const before = mode_in_use();
  co_await ex.submit([] {});
  co_return std::array<int, 2>{before, mode_in_use()};
}
#endif

}  // namespace

TEST_CASE("inherited: tasks compute in the floating-point modes of the thread that made the executor", "[sched]") {
  rounding const up{FE_UPWARD};
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  rounding const down{FE_DOWNWARD};
  for (int const mode : on_all_workers(ex, mode_in_use)) CHECK(mode == FE_UPWARD);
  heist::task_graph g;
  int in_graph = -2;
  g.emplace([&] { in_graph = mode_in_use(); });
  ex.run(g).get();
  CHECK(in_graph == FE_UPWARD);
  CHECK(ex.invoke(mode_in_use) == FE_UPWARD);
  while (ex.sleeping_workers() != 2) std::this_thread::yield();
  CHECK(ex.run_here([](auto) { return mode_in_use(); }) == FE_UPWARD);
  CHECK(ex.run_here(mode_in_use) == FE_DOWNWARD);  // a call, no task
  int in_call = -2;
  ex.invoke([&](auto ctx) { ctx.blocking([&] { in_call = mode_in_use(); }); });
  CHECK(in_call == FE_UPWARD);
#if HEIST_COROUTINES
  CHECK(heist::sync_wait(modes_of_coroutine(ex)) == std::array{FE_UPWARD, FE_UPWARD});
#endif
  CHECK(mode_in_use() == FE_DOWNWARD);
}

TEST_CASE("inherited: a child has the modes of the task that forks it; one that is stolen, the executor's", "[sched]") {
  auto const modes = [](auto& ex, bool stolen) {
    return ex.invoke([stolen](auto ctx) {
      rounding const up{FE_UPWARD};
      std::atomic<bool> begun{!stolen};
      auto const both = ctx.fork_join(
          [&] {
            wait_until(begun);
            return mode_in_use();
          },
          [&] {
            begun = true;
            return mode_in_use();
          });
      CHECK(mode_in_use() == FE_UPWARD);
      return std::array{std::get<0>(both), std::get<1>(both)};
    });
  };
  {
    heist::executor<parent_first> alone{1}, two{2};
    CHECK(modes(alone, false) == std::array{FE_UPWARD, FE_UPWARD});
    CHECK(modes(two, true) == std::array{FE_UPWARD, FE_TONEAREST});
  }
  // Here a thief takes the rest of the task that forks, which keeps its modes.
  heist::executor<child_first> alone{1}, two{2};
  CHECK(modes(alone, false) == std::array{FE_UPWARD, FE_UPWARD});
  CHECK(modes(two, true) == std::array{FE_UPWARD, FE_UPWARD});
}

TEMPLATE_LIST_TEST_CASE("inherited: a task that forks or waits in a mode of its own leaves it to no other task",
                        "[sched]", heist_test::both_orders) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round != 20; ++round) {
    ex.invoke([](auto ctx) {
      rounding const up{FE_UPWARD};
      std::atomic<bool> begun{false};
      ctx.fork_join([&] { wait_until(begun); }, [&] { begun = true; });
      CHECK(mode_in_use() == FE_UPWARD);
      heist_test::move_remote(ctx, [] { CHECK(mode_in_use() == FE_TONEAREST); });
      CHECK(mode_in_use() == FE_UPWARD);
    });
    for (int const mode : on_all_workers(ex, mode_in_use)) CHECK(mode == FE_TONEAREST);
  }
}

namespace {

struct loop_modes {
  std::array<std::atomic<int>, 2> of_iteration{-2, -2};
  bool all_are(int mode) const { return of_iteration[0] == mode && of_iteration[1] == mode; }
};

/// Two iterations on two threads, by a shared loop and by the loop engine.
template <class On>
void check_loops(On& on) {
  meet_point both{2};
  loop_modes shared, engine;
  heist::for_each_index(on, 0, 2, [&](int i) {
    both();
    shared.of_iteration[static_cast<std::size_t>(i)] = mode_in_use();
  });
  CHECK(shared.all_are(FE_UPWARD));
  heist::for_each_index(on, 0, 2, [&](heist::context, int i) {
    both();
    engine.of_iteration[static_cast<std::size_t>(i)] = mode_in_use();
  });
  CHECK(engine.all_are(FE_UPWARD));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("inherited: all iterations of a loop compute in the caller's modes", "[sched]",
                        heist_test::both_orders) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round != 20; ++round) {
    {
      rounding const up{FE_UPWARD};
      check_loops(ex);
    }
    ex.invoke([](heist::context ctx) {
      rounding const up{FE_UPWARD};
      check_loops(ctx);
    });
    for (int const mode : on_all_workers(ex, mode_in_use)) CHECK(mode == FE_TONEAREST);
  }
}

TEST_CASE("inherited: the caller's modes reach the squads of a region", "[sched]") {
  heist::executor<heist::policy::cab> ex{
      {.workers = 4, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1")}};
  heist_test::watchdog guard{ex, 60s};
  heist::region phase{{.branching = 2, .bytes = 64u << 20}};
  for (int run = 0; run != 3; ++run) {
    rounding const up{FE_UPWARD};
    std::atomic<int> others{0};
    heist::for_each_index(ex, 0, 1000, [&](int) { others += mode_in_use() != FE_UPWARD; }, {.region = &phase});
    CHECK(others == 0);
  }
}

TEST_CASE("inherited: sums and scans have the same bits on any number of workers, in whatever mode", "[sched]") {
  constexpr std::size_t n = 100000;
  std::vector<double> values(n);
  for (std::size_t i = 0; i != n; ++i) values[i] = 1 / (1 + static_cast<double>(i));
  // The first and the last element meet, so that two threads have a part.
  auto const sum_and_scan = [&](auto& on, bool meets) {
    meet_point sum_meets{2}, scan_meets{2};
    auto const value = [&](meet_point& m) {
      return [&, meets](double const& x) {
        if (meets && (&x == &values.front() || &x == &values.back())) m();
        return x;
      };
    };
    heist::loop_options const one_leaf{.grain = 200};
    double const sum = heist::transform_reduce(on, values, 0.0, std::plus<>{}, value(sum_meets), one_leaf);
    std::vector<double> scan(n);
    heist::transform_inclusive_scan(on, values, scan.begin(), std::plus<>{}, value(scan_meets), one_leaf);
    return std::pair{sum, scan};
  };
  auto const nearest = [&] {
    heist::executor alone{1};
    return sum_and_scan(alone, false);
  }();
  heist::executor alone{1}, two{2};
  heist_test::watchdog guard{two, 60s};
  for (int const mode : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD}) {
    rounding const set{mode};
    auto const expected = sum_and_scan(alone, false);
    CHECK((expected.first == nearest.first) == (mode == FE_TONEAREST));
    for (int round = 0; round != 5; ++round) {
      auto const outside = sum_and_scan(two, true);
      CHECK(outside.first == expected.first);
      CHECK(outside.second == expected.second);
      auto const inside = two.invoke([&](heist::context ctx) {
        rounding const in_task{mode};
        return sum_and_scan(ctx, true);
      });
      CHECK(inside.first == expected.first);
      CHECK(inside.second == expected.second);
    }
  }
}

#if HEIST_X86_64
TEST_CASE("inherited: flags of floating-point exceptions stay with the task over waits", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  ex.invoke([](auto ctx) {
    std::feclearexcept(FE_ALL_EXCEPT);
    double volatile one = 1, zero = 0;
    double volatile const infinite = one / zero;
    static_cast<void>(infinite);
    heist_test::move_remote(ctx, [] { std::feclearexcept(FE_ALL_EXCEPT); });
    CHECK(std::fetestexcept(FE_DIVBYZERO) != 0);
    CHECK(std::fetestexcept(FE_INVALID) == 0);
  });
}

TEST_CASE("inherited: denormals are zero in tasks if they are for the thread that made the executor", "[sched]") {
  auto const half_of_smallest = [] {
    double volatile smallest = 0x1p-1022, two = 2;
    return smallest / two != 0;
  };
  std::vector<bool> flushed, kept;
  std::thread{[&] {
    unsigned csr = 0;
    asm volatile("stmxcsr %0" : "=m"(csr));
    csr |= 0x8040;  // denormals are zero, results are flushed to zero
    asm volatile("ldmxcsr %0" : : "m"(csr));
    heist::executor ex{2};
    flushed = on_all_workers(ex, half_of_smallest);
  }}.join();
  heist::executor ex{2};
  kept = on_all_workers(ex, half_of_smallest);
  CHECK(flushed == std::vector{false, false});
  CHECK(kept == std::vector{true, true});
}
#endif

TEST_CASE("inherited: a task that ends in another mode: debug builds say so", "[sched]") {
#ifdef NDEBUG
  constexpr bool asserts = false;
#else
  constexpr bool asserts = true;
#endif
  auto const report = heist_test::run_child([] {
    heist::executor ex{1};
    ex.submit([] { std::fesetround(FE_UPWARD); }).get();
    ex.wait_idle();
  });
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  if (asserts) {
    CHECK(report.signal == SIGABRT);
    CHECK(report.says("another floating-point mode than it began with"));
    CHECK(report.says("fix it by"));
  } else {
    CHECK(report.clean());
  }
}

namespace {

struct task_error : std::runtime_error {
  using runtime_error::runtime_error;
};

bool no_exceptions() {
  return !std::current_exception() && std::uncaught_exceptions() == 0;
}

}  // namespace

TEST_CASE("inherited: exceptions stay with the task over waits, and no other task has them", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round != 20; ++round) {
    ex.invoke([&](auto ctx) {
      struct waits {
        decltype(ctx) in;
        int* uncaught;
        ~waits() {
          heist_test::move_remote(in, [] { CHECK(no_exceptions()); });
          *uncaught = std::uncaught_exceptions();
        }
      };
      CHECK(no_exceptions());
      int uncaught = 0;
      try {
        waits const w{ctx, &uncaught};
        throw task_error{"mine"};
      } catch (task_error const&) {
        auto const mine = std::current_exception();
        heist_test::move_remote(ctx, [] { CHECK(no_exceptions()); });
        CHECK(std::current_exception() == mine);
        bool child_has = true;
        ctx.submit([&] { child_has = !no_exceptions(); }).wait();
        CHECK_FALSE(child_has);
      }
      CHECK(uncaught == 1);
      CHECK(no_exceptions());
    });
  }
}

namespace {

/// The attributes that the kernel keeps for each thread.
struct of_thread {
  std::string name;
  std::vector<bool> blocked, cpus;
  int nice = 0, scheduling = 0, slack = 0, no_new_privileges = 0, memory_policy = 0;
  bool operator==(of_thread const&) const = default;

  static of_thread now() {
    of_thread t;
    char text[16];
    ::pthread_getname_np(::pthread_self(), text, sizeof text);
    t.name = text;
    ::sigset_t signals;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &signals);
    for (int s = 1; s < NSIG; ++s) t.blocked.push_back(::sigismember(&signals, s) == 1);
    ::cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    for (std::size_t i = 0; i != CPU_SETSIZE; ++i) t.cpus.push_back(CPU_ISSET(i, &set));
    t.nice = ::getpriority(PRIO_PROCESS, 0);
    t.scheduling = ::sched_getscheduler(0);
    t.slack = ::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0);
    t.no_new_privileges = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    if (::syscall(SYS_get_mempolicy, &t.memory_policy, nullptr, 0, nullptr, 0) != 0) t.memory_policy = -1;
    return t;
  }
  /// Changes them, as far as the system allows it.
  static void change() {
    ::pthread_setname_np(::pthread_self(), "maker");
    ::sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGUSR2);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    ::cpu_set_t set;
    CPU_ZERO(&set);
    ::sched_getaffinity(0, sizeof set, &set);
    for (std::size_t i = 0; i != CPU_SETSIZE && CPU_COUNT(&set) > 1; ++i) CPU_CLR(i, &set);
    ::sched_setaffinity(0, sizeof set, &set);
    ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + 1);
    ::sched_param const none{};
    ::sched_setscheduler(0, SCHED_BATCH, &none);
    ::prctl(PR_SET_TIMERSLACK, 123456, 0, 0, 0);
    ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    unsigned long const first_node = 1;
    constexpr int preferred = 1;
    ::syscall(SYS_set_mempolicy, preferred, &first_node, 8 * sizeof first_node);
  }
};

}  // namespace

TEST_CASE(
    "inherited: workers have the signal mask, CPUs and priorities of the thread that made the executor, and names",
    "[sched]") {
  of_thread const before = of_thread::now();
  of_thread maker;
  std::vector<of_thread> tasks;
  of_thread in_blocking_call;
  std::thread{[&] {
    of_thread::change();
    maker = of_thread::now();
    heist::executor ex{{.workers = 2, .pin = heist::pinning::none}};
    tasks = on_all_workers(ex, of_thread::now);
    // The call blocks its thread; a thread that is made for it carries the only worker.
    heist::executor one{{.workers = 1, .pin = heist::pinning::none}};
    one.invoke(
        [&](auto ctx) { ctx.blocking([&] { one.submit([&] { in_blocking_call = of_thread::now(); }).wait(); }); });
  }}.join();
  CHECK(maker.name == "maker");
  CHECK(maker.blocked != before.blocked);
  CHECK(maker.slack == 123456);
  tasks.push_back(in_blocking_call);
  for (auto& task : tasks) {
    CHECK(task.name.rfind("heist", 0) == 0);
    task.name = maker.name;
    CHECK(task == maker);
  }
  CHECK(of_thread::now() == before);
}

TEST_CASE("inherited: a task's own locale is the worker's, the global ones are the process's", "[sched]") {
  bool differs = false;
  std::vector<bool> global;
  std::thread{[&] {
    ::locale_t const mine = ::newlocale(LC_ALL_MASK, "C", nullptr);
    ::locale_t const old = ::uselocale(mine);
    {
      heist::executor ex{2};
      differs = ::uselocale(nullptr) != LC_GLOBAL_LOCALE;
      global = on_all_workers(ex, [] { return ::uselocale(nullptr) == LC_GLOBAL_LOCALE; });
    }
    ::uselocale(old);
    ::freelocale(mine);
  }}.join();
  CHECK(differs);
  CHECK(global == std::vector{true, true});
  heist::executor ex{1};
  struct points : std::numpunct<char> {
    char do_decimal_point() const override { return '!'; }
  };
  std::locale const old = std::locale::global(std::locale{std::locale{}, new points});
  char const point = ex.submit([] { return std::use_facet<std::numpunct<char>>(std::locale{}).decimal_point(); }).get();
  std::locale::global(old);
  CHECK(point == '!');
}

TEST_CASE("inherited: the umask and the working folder are the process's", "[sched]") {
  heist::executor ex{1};
  ::mode_t const old = ::umask(0123);
  ::mode_t const seen = ex.submit([] {
                            ::mode_t const mask = ::umask(0);
                            ::umask(mask);
                            return mask;
                          }).get();
  ::umask(old);
  CHECK(seen == 0123);
}

TEST_CASE("inherited: workers cannot be cancelled, and have a stack for signal handlers", "[sched]") {
  heist::executor ex{2};
  for (int const state : on_all_workers(ex, [] {
         int was = -1;
         ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was);
         return was;
       }))
    CHECK(state == PTHREAD_CANCEL_DISABLE);
  if (heist::under_asan || heist::under_tsan) return;  // they have stacks of their own
  for (bool const has : on_all_workers(ex, [] {
         ::stack_t handlers{};
         return ::sigaltstack(nullptr, &handlers) == 0 && (handlers.ss_flags & SS_DISABLE) == 0;
       }))
    CHECK(has);
}

namespace {
thread_local int of_this_thread = 0;
}

TEST_CASE("inherited: thread_local objects are the worker's; on_worker_start sets them", "[sched]") {
  of_this_thread = 1;
  heist::options wanted{.workers = 2};
  wanted.on_worker_start = [](std::size_t) { of_this_thread = 2; };
  heist::executor ex{wanted};
  CHECK(on_all_workers(ex, [] { return of_this_thread; }) == std::vector{2, 2});
  ex.invoke([](auto ctx) {
    heist::no_migrate const stays;
    of_this_thread = 3;
    errno = 4;
    ctx.submit([] {}).wait();
    CHECK(errno == 4);
    CHECK(of_this_thread == 3);
  });
}
