// Threads that cannot be started: whichever one it is, the constructor says so, joins the others and leaks nothing.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "faults/child_process.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

std::atomic<int> threads_until_failure{-1};  ///< -1: never
std::atomic<int> refused{0};

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

// std::thread lives in a shared library, so the program's own definition comes before the system's.
extern "C" int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*),
                              void* argument) noexcept {
  using function = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "pthread_create"));
  int left = threads_until_failure.load();
  if (left >= 0 && (left == 0 || threads_until_failure.fetch_sub(1) == 0)) {
    ++refused;
    return EAGAIN;
  }
  return real(thread, attributes, start, argument);
}

TEST_CASE("threads: the k-th cannot be started, for every k", "[faults]") {
  constexpr int workers = 6;
  { heist::executor warm_up{std::size_t{workers}}; }
  std::size_t const threads_before = threads_now();
  for (int k = 0; k < workers; ++k) {
    refused = 0;
    threads_until_failure = k;
    try {
      heist::executor ex{std::size_t{workers}};
      threads_until_failure = -1;
      FAIL("made");
    } catch (heist::executor_error const& e) {
      threads_until_failure = -1;
      std::string const text = e.what();
      INFO(text);
      CHECK(text.find("thread " + std::to_string(k + 1) + " of 6") != std::string::npos);
      if (k > 0) CHECK(text.find("at most " + std::to_string(k)) != std::string::npos);
    }
    CHECK(refused == 1);
    CHECK(threads_now() == threads_before);
    // The remedy works, and so does a second attempt.
    heist::executor again{std::size_t{workers}};
    CHECK(again.sync_wait([] { return 5; }) == 5);
    if (k > 0) {
      threads_until_failure = k;
      heist::executor fewer{static_cast<std::size_t>(k)};
      threads_until_failure = -1;
      CHECK(fewer.sync_wait([] { return 6; }) == 6);
    }
  }
}

TEST_CASE("threads: the advice for a machine without a single thread to give makes sense", "[faults]") {
  threads_until_failure = 0;
  std::string text;
  try {
    heist::executor ex{std::size_t{1}};
  } catch (heist::executor_error const& e) {
    text = e.what();
  }
  threads_until_failure = -1;
  INFO(text);
  CHECK_FALSE(text.empty());
  CHECK(text.find("at most 0 workers") == std::string::npos);  // 0 means as many as there are CPUs
}

TEST_CASE("threads: failures leak neither memory mappings nor descriptors", "[faults]") {
  { heist::executor warm_up{std::size_t{4}}; }
  auto const fail = [] {
    threads_until_failure = 3;
    try {
      heist::executor ex{std::size_t{4}};
    } catch (heist::executor_error const&) {
    }
    threads_until_failure = -1;
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
    std::printf("skipped: no writable pids control group\n");
    return;
  }
  if (!std::filesystem::exists(group + "/pids.max")) {
    ::rmdir(group.c_str());
    std::printf("skipped: no pids.max\n");
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
    CHILD_REQUIRE(ex.sync_wait([] { return 1; }) == 1);
  });
  INFO(report.text());
  CHECK(report.clean());
  std::printf("%s", report.output.c_str());
  for (int i = 0; i < 50 && ::rmdir(group.c_str()) != 0; ++i) ::usleep(10000);
}
