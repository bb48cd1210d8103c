// Tools that look at a program from outside: the system's names of its threads, profilers that interrupt it at any
// instruction, and valgrind.
#include <execinfo.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/algorithm.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/sync.hpp"
#include "support/catch.hpp"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif

using heist_test::run_child;

namespace {

/// Their names, each at most once.
std::set<std::string> names_of_threads() {
  std::set<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::ifstream file{entry.path() / "comm"};
    std::string name;
    if (std::getline(file, name)) names.insert(name);
  }
  return names;
}

template <class Context>
long fib(Context c, int n) {
  if (n < 2) return n;
  auto [a, b] = c.fork_join([n](Context d) { return fib(d, n - 1); }, [n](Context d) { return fib(d, n - 2); });
  return a + b;
}

/// Forks, parked tasks, a lock, a graph, a sort and an exception. True: all of it is right.
template <class Executor>
bool does_a_bit_of_all(Executor& ex) {
  using context = typename Executor::context_type;
  bool right = ex.invoke([](context c) { return fib(c, 14); }) == 377;
  heist::mutex lock;
  long sum = 0;
  std::vector<heist::future<void>> adders;
  for (int i = 0; i != 50; ++i) {
    adders.push_back(ex.submit([&] {
      std::lock_guard guard{lock};
      sum += ex.submit([] { return 1; }).get();
    }));
  }
  for (auto& f : adders) f.get();
  heist::task_graph graph;
  std::atomic<int> ran{0};
  auto first = graph.emplace([&] { ++ran; });
  for (int i = 0; i != 50; ++i) first.precede(graph.emplace([&] { ++ran; }));
  ex.run(graph).get();
  std::vector<int> numbers(5000);
  for (std::size_t i = 0; i != numbers.size(); ++i) numbers[i] = static_cast<int>(i * 7919 % 5003);
  heist::sort(ex, numbers.begin(), numbers.end());
  bool thrown = false;
  try {
    ex.submit([] { throw 1; }).get();
  } catch (int) {
    thrown = true;
  }
  right = right && sum == 50 && ran == 51 && std::is_sorted(numbers.begin(), numbers.end()) && thrown;
  return right;
}

using child_first = heist::policy::with_order<heist::policy::random, heist::order::child_first>;

bool does_a_bit_in_both_orders() {
  heist::executor<> parents{std::size_t{2}};
  heist::executor<child_first> children{std::size_t{2}};
  bool const one = does_a_bit_of_all(parents), other = does_a_bit_of_all(children);
  return one && other;
}

std::atomic<long> samples{0};

/// As sampling profilers do. They call backtrace() once before, since it loads a library at first.
void sample(int) {
  int const before = errno;
  void* frames[64];
  if (::backtrace(frames, 64) > 0) ++samples;
  errno = before;
}

}  // namespace

TEST_CASE("tools: worker threads have names", "[faults]") {
  auto const report = run_child([] {  // these are the first executors of the child
    std::string const mine = [] {
      char name[16];
      ::pthread_getname_np(::pthread_self(), name, sizeof name);
      return std::string{name};
    }();
    heist::executor<> first{std::size_t{2}};
    heist::executor<> second{heist::options{.workers = 3, .on_worker_start = [](std::size_t number) {
                                              if (number == 2) ::pthread_setname_np(::pthread_self(), "mine");
                                            }}};
    // A name is there when the thread has begun, which the executor does not wait for.
    std::set<std::string> const expected{mine, "heist-0", "heist-1", "heist2-0", "heist2-1", "mine"};
    std::set<std::string> names;
    do {
      names = names_of_threads();
    } while (!std::includes(names.begin(), names.end(), expected.begin(), expected.end()));
    first.invoke([](heist::context c) {
      c.blocking([] {
        while (names_of_threads().count("heist-extra") == 0) std::this_thread::yield();
      });
    });
    first.run_here([] {});  // perhaps as a worker's helper, which keeps its name
    char still[16];
    ::pthread_getname_np(::pthread_self(), still, sizeof still);
    CHILD_REQUIRE(mine == still);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("tools: a signal at any instruction may take a backtrace", "[faults]") {
  if (heist::under_asan || heist::under_tsan) {
    return heist_test::skipped("the sanitizers' unwinders are not ours to test");
  }
  auto const report = run_child([] {
    void* frames[4];
    CHILD_REQUIRE(::backtrace(frames, 4) > 0);
    struct sigaction wanted {};
    wanted.sa_handler = &sample;
    wanted.sa_flags = SA_RESTART;
    CHILD_REQUIRE(::sigaction(SIGPROF, &wanted, nullptr) == 0);
    std::atomic<bool> over{false};
    std::thread sampler{[&] {
      auto const own = static_cast<long>(::gettid());
      while (!over) {
        for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
          long const thread = std::stol(entry.path().filename().string());
          if (thread != own) ::syscall(SYS_tgkill, ::getpid(), thread, SIGPROF);
        }
        ::usleep(50);
      }
    }};
    bool right = true;
    for (int round = 0; round < 10 || samples < 3000; ++round) right = does_a_bit_in_both_orders() && right;
    over = true;
    sampler.join();
    CHILD_REQUIRE(right);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("tools: what valgrind looks at", "[.valgrind]") {
  CHECK(does_a_bit_in_both_orders());
}

TEST_CASE("tools: memcheck reports nothing", "[faults]") {
#if !defined(VALGRIND_STACK_REGISTER)
  return heist_test::skipped("there was no valgrind/valgrind.h to compile with");
#endif
  if (heist::under_asan || heist::under_tsan) return heist_test::skipped("valgrind runs no sanitizers");
  if (std::system("valgrind --version >/dev/null 2>&1") != 0) return heist_test::skipped("valgrind is not installed");
  std::string const self = std::filesystem::read_symlink("/proc/self/exe").string();
  auto const report = run_child(
      [&] { ::execlp("valgrind", "valgrind", "--error-exitcode=9", "--quiet", self.c_str(), "[.valgrind]", nullptr); },
      std::chrono::seconds{120});
  if (report.says("Unrecognised instruction")) {
    return heist_test::skipped("this valgrind does not know the instructions of this program");
  }
  INFO(report.text());
  CHECK(report.clean());
}
