// Threads that cannot be started: whichever one it is, the constructor says so, joins the others and leaks nothing.
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "faults/child_process.hpp"
#include "faults/interposer.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

using heist_test::fault;
using heist_test::forever;

std::size_t threads_now() {
  std::size_t n = 0;
  for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/task"}) n += !entry.path().empty();
  return n;
}

std::size_t mappings_now() {
  std::ifstream maps{"/proc/self/maps"};
  std::size_t n = 0;
  for (std::string line; std::getline(maps, line);) ++n;
  return n;
}

}  // namespace

TEST_CASE("threads: the k-th cannot be started, for every k", "[faults]") {
  constexpr int workers = 6;
  { heist::executor warmup{std::size_t{workers}}; }
  std::size_t const threads_before = threads_now();
  for (int k = 0; k < workers; ++k) {
    fault reject{site_of("thread"), k + 1};
    try {
      heist::executor ex{std::size_t{workers}};
      reject.stop();
      FAIL("made");
    } catch (heist::executor_error const& e) {
      reject.stop();
      std::string const text = e.what();
      INFO(text);
      CHECK(text.find("thread " + std::to_string(k + 1) + " of 6") != std::string::npos);
      if (k > 0) CHECK(text.find("at most " + std::to_string(k)) != std::string::npos);
    }
    CHECK(reject.failed() == 1);
    CHECK(threads_now() == threads_before);
    // The remedy works, and so does a second attempt.
    heist::executor again{std::size_t{workers}};
    CHECK(again.invoke([] { return 5; }) == 5);
    if (k > 0) {
      fault const no_more{site_of("thread"), k + 1, forever};
      heist::executor fewer{static_cast<std::size_t>(k)};
      CHECK(fewer.invoke([] { return 6; }) == 6);
    }
  }
}

TEST_CASE("threads: the caller's worker needs none, and the advice knows it", "[faults]") {
  heist::options const wanted{.workers = 4, .caller_is_worker = true};
  for (int k = 0; k < 3; ++k) {
    fault reject{site_of("thread"), k + 1};
    std::string text;
    try {
      heist::executor ex{wanted};
    } catch (heist::executor_error const& e) {
      text = e.what();
    }
    reject.stop();
    INFO(text);
    CHECK(text.find("thread " + std::to_string(k + 1) + " of 3") != std::string::npos);
    if (k == 0) continue;
    CHECK(text.find("at most " + std::to_string(k + 1)) != std::string::npos);
    fault const no_more{site_of("thread"), k + 1, forever};
    heist::executor fewer{{.workers = static_cast<std::size_t>(k + 1), .caller_is_worker = true}};
    CHECK(fewer.invoke([] { return 6; }) == 6);
  }
}

TEST_CASE("threads: the advice for a machine without a single thread to give makes sense", "[faults]") {
  fault none{site_of("thread"), 1, forever};
  std::string text;
  try {
    heist::executor ex{std::size_t{1}};
  } catch (heist::executor_error const& e) {
    text = e.what();
  }
  none.stop();
  INFO(text);
  CHECK_FALSE(text.empty());
  CHECK(text.find("at most 0 workers") == std::string::npos);  // 0 means as many as there are CPUs
}

TEST_CASE("threads: failures leak neither memory mappings nor descriptors", "[faults]") {
  { heist::executor warmup{std::size_t{4}}; }
  auto const fail = [] {
    fault const reject{site_of("thread"), 4, forever};
    try {
      heist::executor ex{std::size_t{4}};
    } catch (heist::executor_error const&) {
    }
  };
  for (int i = 0; i < 20; ++i) fail();
  std::size_t const before = mappings_now();
  int const descriptor = ::dup(1);
  ::close(descriptor);
  for (int i = 0; i < 100; ++i) fail();
  int const later = ::dup(1);
  ::close(later);
  CHECK(later == descriptor);
  if (!heist::under_asan && !heist::under_tsan) CHECK(mappings_now() <= before + 8);
}

TEST_CASE("threads: a control group that allows few processes", "[faults]") {
  std::string const group = "/sys/fs/cgroup/pids/heist_threads_" + std::to_string(::getpid());
  if (::mkdir(group.c_str(), 0755) != 0) {
    heist_test::skipped("no writable pids control group");
    return;
  }
  if (!std::filesystem::exists(group + "/pids.max")) {
    ::rmdir(group.c_str());
    heist_test::skipped("no pids.max");
    return;
  }
  auto const report = heist_test::run_child([&] {
    std::ofstream{group + "/pids.max"} << 4;
    std::ofstream{group + "/cgroup.procs"} << ::getpid();
    bool said_so = false;
    try {
      heist::executor ex{std::size_t{8}};
    } catch (heist::executor_error const& e) {
      std::printf("%s\n", e.what());
      said_so = true;
    }
    CHILD_REQUIRE(said_so);
    heist::executor ex{std::size_t{2}};
    CHILD_REQUIRE(ex.invoke([] { return 1; }) == 1);
  });
  INFO(report.text());
  CHECK(report.clean());
  std::printf("%s", report.output.c_str());
  for (int i = 0; i < 50 && ::rmdir(group.c_str()) != 0; ++i) ::usleep(10000);
}

namespace {

/// A control group of this process's own that gives it half a CPU, where it may make one.
class half_a_cpu {
 public:
  half_a_cpu() {
    std::string const name = "heist_quota_" + std::to_string(::getpid());
    for (std::string const parent : {"/sys/fs/cgroup/cpu/", "/sys/fs/cgroup/cpu,cpuacct/", "/sys/fs/cgroup/"}) {
      path_ = parent + name;
      if (::mkdir(path_.c_str(), 0755) != 0) continue;
      made_ = true;
      if (write("/cpu.cfs_period_us", "100000") && write("/cpu.cfs_quota_us", "50000")) return;
      if (write("/cpu.max", "50000 100000")) return;
      leave();
    }
  }
  half_a_cpu(half_a_cpu const&) = delete;
  half_a_cpu& operator=(half_a_cpu const&) = delete;
  ~half_a_cpu() { leave(); }

  explicit operator bool() const noexcept { return made_; }
  /// The calling process, from now on.
  bool enter() const { return write("/cgroup.procs", std::to_string(::getpid())); }

 private:
  bool write(char const* file, std::string const& text) const {
    if (!std::filesystem::exists(path_ + file)) return false;
    std::ofstream to{path_ + file};
    to << text << std::flush;
    return to.good();
  }
  void leave() {
    for (int i = 0; made_ && i < 50; ++i) {
      made_ = ::rmdir(path_.c_str()) != 0;
      if (made_) ::usleep(10000);
    }
  }
  std::string path_;
  bool made_ = false;
};

}  // namespace

TEST_CASE("threads: a control group that gives half a CPU gets one worker, and four come to their end, too",
          "[faults]") {
  half_a_cpu const group;
  if (!group) return heist_test::skipped("no writable cpu control group");
  auto const report = heist_test::run_child([&] {
    CHILD_REQUIRE(group.enter());
    for (std::size_t const workers : {0u, 4u}) {
      heist::executor ex{workers};
      CHILD_REQUIRE(ex.worker_count() == (workers == 0 ? 1 : workers));
      std::atomic<int> n{0};
      for (int i = 0; i < 2000; ++i) ex.post([&] { n += ex.submit([] { return 1; }).get(); });
      ex.wait_idle();
      CHILD_REQUIRE(n == 2000);
    }
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("threads: a worker cannot be cancelled by a task", "[faults]") {
  auto const report = heist_test::run_child([] {
    heist::executor ex{2};
    std::atomic<int> n{0};
    for (int i = 0; i < 20; ++i) {
      ex.post([&] {
        ::pthread_cancel(::pthread_self());
        ::usleep(100);  // where a thread ends that has been cancelled
        ++n;
      });
    }
    ex.wait_idle();
    CHILD_REQUIRE(n == 20);
    CHILD_REQUIRE(ex.invoke([] { return 3; }) == 3);
  });
  INFO(report.text());
  CHECK(report.clean());
}
