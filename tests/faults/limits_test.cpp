// Limits of the system (docs/limits.md): where the options set no number, heist uses as much as the system allows.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <new>
#include <string>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/configuration.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/report.hpp"
#include "support/catch.hpp"

using heist_test::child_report;
using heist_test::run_child;

namespace {

long fib(heist::context c, int n) {
  if (n < 2) return n;
  auto [a, b] = c.fork_join([n](heist::context d) { return fib(d, n - 1); },  //
                            [n](heist::context d) { return fib(d, n - 2); });
  return a + b;
}

/// Runs a graph, forks and tasks that wait, and checks their results. Prints the number of workers, or the refusal.
void work(std::size_t workers = 0, int waiting_tasks = 10) {
  try {
    heist::executor<> ex{heist::options{.workers = workers}};
    heist::task_graph graph;
    std::atomic<int> ran{0};
    auto first = graph.emplace([&] { ++ran; });
    for (int i = 0; i != 20; ++i) first.precede(graph.emplace([&] { ++ran; }));
    ex.run(graph).get();
    CHILD_REQUIRE(ran == 21);
    CHILD_REQUIRE(ex.invoke([](heist::context c) { return fib(c, 14); }) == 377);
    std::vector<heist::future<int>> waiting;
    for (int i = 0; i != waiting_tasks; ++i)
      waiting.push_back(ex.submit([&] { return ex.submit([] { return 1; }).get(); }));
    int sum = 0;
    for (auto& f : waiting) sum += f.get();
    CHILD_REQUIRE(sum == waiting_tasks);
    std::printf("right with %zu workers\n", ex.worker_count());
  } catch (heist::error const& e) {
    std::printf("refused: %s\n", e.what());
  } catch (std::bad_alloc const&) {
    std::printf("refused: no memory\n");
  }
}

void limit(decltype(RLIMIT_AS) what, rlim_t most) {
  rlimit const wanted{most, most};
  CHILD_REQUIRE(::setrlimit(what, &wanted) == 0);
}

/// A child that cannot be set up says so.
[[noreturn]] void cannot(char const* what) {
  std::printf("skip: %s\n", what);
  std::fflush(stdout);
  ::_exit(0);
}

/// Becomes a user without other processes and without rights.
void change_user() {
  auto const user = static_cast<uid_t>(60000 + ::getpid() % 5000);
  if (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) cannot("cannot become another user");
}

/// From now on these system calls fail with `error`.
void reject(std::initializer_list<long> calls, int error) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
  for (long const call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog const program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    cannot("no filters of system calls");
}

/// Puts an empty folder in its place.
void hide(char const* folder) {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", folder, "tmpfs", 0, "size=4k") != 0)
    cannot("no mounts of its own");
}

rlim_t address_space() {
  std::ifstream file{"/proc/self/statm"};
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

/// Their stacks would take most of the memory.
void small_threads() {
  ::pthread_attr_t attributes;
  CHILD_REQUIRE(::pthread_attr_init(&attributes) == 0);
  CHILD_REQUIRE(::pthread_attr_setstacksize(&attributes, std::size_t{256} << 10) == 0);
  CHILD_REQUIRE(::pthread_setattr_default_np(&attributes) == 0);
}

/// False, and said, where the child could not be set up.
bool done(child_report const& report) {
  if (!report.says("skip: ")) return true;
  heist_test::skipped(report.output);
  return false;
}

/// The sanitizers need much memory, threads and /proc for themselves.
bool sanitized() {
  if (heist::under_asan || heist::under_tsan) heist_test::skipped("the sanitizers have needs of their own");
  return heist::under_asan || heist::under_tsan;
}

}  // namespace

TEST_CASE("limits: RLIMIT_NPROC", "[faults]") {
  if (sanitized()) return;
  if (::geteuid() != 0) return heist_test::skipped("only root can become a user without other processes");
  for (rlim_t const allowed : {1, 2, 3, 5}) {
    auto const report = run_child([&] {
      ::setenv("HEIST_WORKERS", "4", 1);
      change_user();
      limit(RLIMIT_NPROC, allowed);
      work();
      std::fputs(heist::configuration_text().c_str(), stdout);
    });
    INFO(allowed << ": " << report.text());
    CHECK(report.clean());
    if (!done(report)) return;
    std::string const workers = std::to_string(allowed - 1);
    if (allowed == 1) CHECK(report.says("refused: cannot start thread 1 of "));
    if (allowed > 1) CHECK(report.says(("right with " + workers + " workers").c_str()));
    bool const less = allowed == 2 || allowed == 3;
    CHECK(report.says("an executor gets fewer workers than it wants") == less);
    CHECK(report.says(("an executor got " + workers + " workers").c_str()) == less);
  }
  auto const asked_for = run_child([&] {
    change_user();
    limit(RLIMIT_NPROC, 3);
    work(4);
  });
  INFO(asked_for.text());
  CHECK(asked_for.says("refused: cannot start thread 3 of 4: "));
}

namespace {

/// Makes an executor of its own when its executor starts.
struct makes_an_executor : heist::null_observer {
  static constexpr bool observes = true;
  void start(std::size_t) { heist::executor<> const inner{heist::options{.workers = 4}}; }
};

}  // namespace

TEST_CASE("limits: what another executor is refused is not asked for again", "[faults]") {
  if (sanitized()) return;
  if (::geteuid() != 0) return heist_test::skipped("only root can become a user without other processes");
  auto const report = run_child([] {
    ::setenv("HEIST_WORKERS", "2", 1);
    change_user();
    limit(RLIMIT_NPROC, 4);
    try {
      heist::executor<heist::policy::random, makes_an_executor> const ex;
    } catch (heist::executor_error const& e) {
      std::printf("refused: %s\n", e.what());
    }
  });
  INFO(report.text());
  CHECK(report.clean());
  if (done(report)) CHECK(report.says("refused: cannot start thread 4 of 4: "));
}

TEST_CASE("limits: what a worker submits when it starts runs, though the system refuses the next thread", "[faults]") {
  if (sanitized()) return;
  if (::geteuid() != 0) return heist_test::skipped("only root can become a user without other processes");
  auto const report = run_child([] {
    change_user();
    heist::executor<> remote{1};
    ::setenv("HEIST_WORKERS", "4", 1);
    limit(RLIMIT_NPROC, 4);  // this one, another executor's, two of this one's
    std::atomic<int> submitted{0}, ran{0};
    {
      heist::executor<>* at = nullptr;
      alignas(heist::executor<>) unsigned char place[sizeof(heist::executor<>)];
      at = reinterpret_cast<heist::executor<>*>(place);
      new (place) heist::executor<>{heist::options{.on_worker_start = [&](std::size_t) {
        ++submitted;
        at->post([&] {
          remote.submit([] {}).wait();
          ++ran;
        });
      }}};
      at->~executor();
    }
    std::printf("%s, %d\n", submitted == ran ? "all ran" : "lost", submitted.load());
  });
  INFO(report.text());
  CHECK(report.clean());
  if (done(report)) CHECK(report.says("all ran"));
}

TEST_CASE("limits: RLIMIT_AS and RLIMIT_DATA", "[faults]") {
  if (sanitized()) return;
  constexpr rlim_t step = rlim_t{256} << 10;
  bool right = false, smaller = false;
  for (rlim_t more = step; more <= 64 * step; more += step) {
    auto const report = run_child([&] {
      small_threads();
      limit(RLIMIT_AS, address_space() + more);
      work(0, 0);
    });
    INFO(more << ": " << report.text());
    CHECK(report.clean());
    CHECK((report.says("right with ") || report.says("refused: ")));
    right = right || report.says("right with ");
    smaller = smaller || (report.says("right with ") && report.says("an executor gets smaller stacks"));
  }
  CHECK(right);
  CHECK(smaller);
  for (rlim_t const megabytes : {1, 4, 16, 24, 400}) {
    auto const report = run_child([&] {
      limit(RLIMIT_DATA, megabytes << 20);
      work();
    });
    INFO(megabytes << ": " << report.text());
    CHECK(report.clean());
    CHECK((report.says("right with ") || (report.says("refused: ") && megabytes != 400)));
  }
}

TEST_CASE("limits: RLIMIT_MEMLOCK", "[faults]") {
  if (sanitized()) return;
  for (rlim_t const kilobytes : {0, 64, 256, 1024, 4096}) {
    auto const report = run_child([&] {
      limit(RLIMIT_MEMLOCK, kilobytes << 10);
      if (::geteuid() == 0) change_user();  // root may lock all
      if (kilobytes != 0 && ::mlockall(MCL_FUTURE) != 0) cannot("no mlockall");
      work();
    });
    INFO(kilobytes << ": " << report.text());
    CHECK(report.clean());
    if (!done(report)) continue;
    CHECK((report.says("right with ") || (report.says("refused: ") && kilobytes != 0)));
  }
}

TEST_CASE("limits: those of which heist needs nothing", "[faults]") {
  if (sanitized()) return;
  struct row {
    decltype(RLIMIT_AS) what;
    rlim_t most;
  };
  for (row const r : {row{RLIMIT_STACK, 64 << 10}, row{RLIMIT_STACK, RLIM_INFINITY}, row{RLIMIT_NOFILE, 3},
                      row{RLIMIT_FSIZE, 0}, row{RLIMIT_CPU, 100}, row{RLIMIT_CORE, 0}, row{RLIMIT_SIGPENDING, 0},
                      row{RLIMIT_MSGQUEUE, 0}, row{RLIMIT_LOCKS, 0}, row{RLIMIT_RSS, 0}, row{RLIMIT_NICE, 0},
                      row{RLIMIT_RTPRIO, 0}, row{RLIMIT_RTTIME, 1000}}) {
    auto const report = run_child([&] {
      rlimit before{};
      CHILD_REQUIRE(::getrlimit(r.what, &before) == 0);
      if (r.most > before.rlim_max) cannot("a limit cannot be raised");
      limit(r.what, r.most);
      work(2);
    });
    INFO(static_cast<int>(r.what) << " of " << r.most << ": " << report.text());
    CHECK(report.clean());
    if (done(report)) CHECK(report.says("right with 2 workers"));
  }
}

TEST_CASE("limits: a report that RLIMIT_NOFILE or RLIMIT_FSIZE does not let be written is named", "[faults]") {
  if (sanitized()) return;
  for (bool const too_large : {false, true}) {
    std::string const name = "heist_limits_" + std::to_string(::getpid()) + ".html";
    auto const report = run_child([&] {
      ::setenv("HEIST_REPORT", name.c_str(), 1);
      if (too_large) {
        limit(RLIMIT_FSIZE, 100);
      } else {
        limit(RLIMIT_NOFILE, 3);
      }
      work();
    });
    INFO(report.text());
    CHECK(report.clean());
    CHECK(report.says("right with "));
    CHECK(report.says("heist: cannot write the report"));
    ::unlink(name.c_str());
  }
}

TEST_CASE("limits: filters of system calls", "[faults]") {
  if (sanitized()) return;
  struct row {
    char const* what;
    std::initializer_list<long> calls;
    char const* says;
  };
  row const rows[] = {
      {"affinity", {SYS_sched_setaffinity}, "right with "},
      {"no affinity", {SYS_sched_getaffinity}, "right with 1 workers"},
      {"fences", {SYS_membarrier}, "right with "},
      {"machine",
       {SYS_perf_event_open, SYS_mbind, SYS_move_pages, SYS_get_mempolicy, SYS_set_mempolicy, SYS_getcpu},
       "right with "},
      {"hints", {SYS_sched_yield, SYS_madvise}, "right with "},
      {"signals", {SYS_sigaltstack, SYS_rt_sigaction}, "right with "},
      {"names", {SYS_prctl}, "right with "},
      {"threads", {SYS_clone, SYS_clone3}, "refused: cannot start thread 1 of "},
  };
  for (int const error : {EPERM, ENOSYS}) {
    for (row const& r : rows) {
      auto const report = run_child([&] {
        ::unsetenv("HEIST_WORKERS");
        ::setenv("HEIST_PIN", "pus", 1);
        reject(r.calls, error);
        work();
      });
      INFO(r.what << ", " << error << ": " << report.text());
      CHECK(report.clean());
      if (!done(report)) return;
      CHECK(report.says(r.says));
    }
  }
}

TEST_CASE("limits: without /proc and /sys", "[faults]") {
  if (sanitized()) return;
  for (int which = 1; which != 4; ++which) {
    auto const report = run_child([&] {
      if ((which & 1) != 0) hide("/proc");
      if ((which & 2) != 0) hide("/sys");
      work();
      std::fputs(heist::configuration_text().c_str(), stdout);
    });
    INFO(which << ": " << report.text());
    CHECK(report.clean());
    if (!done(report)) return;
    CHECK(report.says("right with "));
    CHECK(report.says("HEIST_WORKERS="));
  }
}
