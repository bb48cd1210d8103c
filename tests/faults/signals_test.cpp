// Signals at any time: a storm of them, and one whose handler holds a worker up.
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "faults/fault_sites.hpp"
#include "faults/interposer.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

using heist_test::slow;

std::atomic<long> handled{0};
std::atomic<long> tasks_ended{0}, ended_concurrently{0};  ///< while some worker was held up

/// Installs a handler without SA_RESTART for as long as it lives.
class handler {
 public:
  handler(int signal, void (*act)(int)) : signal_{signal} {
    struct sigaction action {};
    action.sa_handler = act;
    ::sigaction(signal, &action, nullptr);
  }
  /// The last ones may still be on their way, and the default action would end the program.
  ~handler() { std::signal(signal_, SIG_IGN); }

 private:
  int signal_;
};

std::vector<::pid_t> other_threads() {
  std::vector<::pid_t> all;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/task"}) {
    ::pid_t const id = std::stoi(entry.path().filename().string());
    if (id != ::getpid()) all.push_back(id);
  }
  return all;
}

long fib(heist::context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] =
      ctx.fork_join([&](heist::context c) { return fib(c, n - 1); }, [&](heist::context c) { return fib(c, n - 2); });
  return a + b;
}

template <class Executor>
void mixed_work(Executor& ex, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    std::atomic<int> n{0};
    for (int k = 0; k < 50; ++k) ex.post([&] { n += ex.submit([] { return ++tasks_ended, 1; }).get(); });
    long const f = ex.invoke([](heist::context ctx) { return fib(ctx, 10); });
    ex.wait_idle();
    REQUIRE(n == 50);
    REQUIRE(f == 55);
    if (i % 8 == 0) std::this_thread::sleep_for(1ms);  // workers fall asleep
  }
}

}  // namespace

TEST_CASE("signals: a profiler's storm interrupts every system call, nothing is lost", "[faults]") {
  heist::executor ex{4};
  heist_test::watchdog guard{"SIGPROF storm", 60s, [&] { return ex.state_text(); }};
  handled = 0;
  handler const h{SIGPROF, [](int) { ++handled; }};
  itimerval const storm{{0, 1000}, {0, 1000}};
  ::setitimer(ITIMER_PROF, &storm, nullptr);
  std::atomic<bool> over{false};
  std::thread sender{[&] {  // sleeping threads, too: the timer hits running ones
    while (!over) {
      for (::pid_t const t : other_threads()) ::syscall(SYS_tgkill, ::getpid(), t, SIGPROF);
      std::this_thread::sleep_for(1ms);
    }
  }};
  do mixed_work(ex, slow ? 40 : 300);
  while (handled <= 10);
  over = true;
  sender.join();
  itimerval const calm{};
  ::setitimer(ITIMER_PROF, &calm, nullptr);
  std::printf("SIGPROF storm: %ld signals\n", handled.load());
}

TEST_CASE("signals: a storm of them, while one in three waits is interrupted before it begins", "[faults]") {
  heist::executor ex{4};
  heist_test::watchdog guard{"SIGUSR1 storm", 60s, [&] { return ex.state_text(); }};
  handled = 0;
  handler const h{SIGUSR1, [](int) { ++handled; }};
  std::atomic<bool> over{false};
  std::thread sender{[&] {
    while (!over) {
      for (::pid_t const t : other_threads()) ::syscall(SYS_tgkill, ::getpid(), t, SIGUSR1);
      std::this_thread::sleep_for(1ms);
    }
  }};
  {
    heist_test::fault const interrupted{site_of("futex wait"), heist_test::fault::one_in{3}};
    do mixed_work(ex, slow ? 20 : 100);
    while (interrupted.failed() == 0 || handled <= 10);
  }
  over = true;
  sender.join();
  std::printf("SIGUSR1 storm: %ld signals\n", handled.load());
}

TEST_CASE("signals: a worker that is held up for 50 ms holds up nobody else", "[faults]") {
  heist::executor ex{3};
  heist_test::watchdog guard{"frozen workers", 60s, [&] { return ex.state_text(); }};
  tasks_ended = 0, ended_concurrently = 0;
  handler const h{SIGUSR1, [](int) {
                    long const before = tasks_ended;
                    timespec const nap{0, 50'000'000};
                    ::nanosleep(&nap, nullptr);
                    ended_concurrently += tasks_ended - before;
                  }};
  std::atomic<bool> over{false};
  std::atomic<int> frozen{0};
  // The workers' threads report their ids: the sanitizers have threads that must not be touched.
  std::atomic<::pid_t> ids[3] = {};
  while (ids[0] == 0 || ids[1] == 0 || ids[2] == 0) {
    ex.post([&](heist::context c) { ids[c.worker_id()] = static_cast<::pid_t>(::syscall(SYS_gettid)); });
    std::this_thread::yield();
  }
  std::thread freezer{[&] {
    for (unsigned i = 0; !over; ++i) {
      ::syscall(SYS_tgkill, ::getpid(), ids[i * 7 % 3].load(), SIGUSR1);
      ++frozen;
      std::this_thread::sleep_for(std::chrono::microseconds{(i * 7919) % 30000});
    }
  }};
  // Until a task has ended meanwhile: if all workers are held up with one task, the watchdog says so.
  do mixed_work(ex, slow ? 10 : 40);
  while (ended_concurrently == 0);
  over = true;
  freezer.join();
  std::printf("frozen workers: %d times, %ld tasks meanwhile\n", frozen.load(), ended_concurrently.load());
}

TEST_CASE("signals: parking and waking leave errno alone on a task that stays on its worker", "[faults]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"errno", 30s, [&] { return ex.state_text(); }};
  int const seen = ex.invoke([&] {
    errno = EDOM;
    for (int i = 0; i < 100; ++i) ex.submit([] {}).get();
    return errno;
  });
  CHECK(seen == EDOM);
}
