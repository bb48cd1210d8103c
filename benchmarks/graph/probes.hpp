// Data that the programs read from the operating system: clocks, CPU time, memory in use. Also child processes of the
// same program, for measurements that need a fresh address space or several processes at once. Linux with glibc.
#pragma once

#include <fcntl.h>
#include <malloc.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "../stopwatch.hpp"

extern char** environ;

namespace bench {

[[noreturn]] inline void fail(std::string const& what) {
  std::fprintf(stderr, "benchmark: %s\n", what.c_str());
  std::exit(1);
}

/// CPU microseconds used by the whole process so far.
inline double process_cpu_us() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  auto us = [](timeval const& t) { return 1e6 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec); };
  return us(u.ru_utime) + us(u.ru_stime);
}

/// CPU microseconds used by the calling thread so far.
inline double thread_cpu_us() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e6 * static_cast<double>(t.tv_sec) + 1e-3 * static_cast<double>(t.tv_nsec);
}

/// Memory of this process. `heap` is the memory that malloc has handed out. `resident` is the resident memory once
/// malloc has given back free pages.
struct memory_use {
  double heap = 0;
  double resident = 0;
};

inline memory_use memory_now() {
  malloc_trim(0);
  auto const info = mallinfo2();
  std::ifstream statm{"/proc/self/statm"};
  double pages_total = 0;
  double pages_resident = 0;
  statm >> pages_total >> pages_resident;
  return {static_cast<double>(info.uordblks + info.hblkhd),
          pages_resident * static_cast<double>(sysconf(_SC_PAGESIZE))};
}

/// A running copy of this very program with other arguments; its standard input and output are pipes to us.
class child_process {
 public:
  explicit child_process(std::vector<std::string> arguments) {
    int in[2];
    int out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) fail("cannot make a pipe for a child process");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    std::string program = "benchmark-child";
    std::vector<char*> argv{program.data()};
    for (auto& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr, argv.data(), environ) != 0) {
      fail("cannot start a child process");
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    to_ = fdopen(in[1], "w");
    from_ = fdopen(out[0], "r");
  }

  child_process(child_process&& other) noexcept
      : pid_{std::exchange(other.pid_, 0)},
        to_{std::exchange(other.to_, nullptr)},
        from_{std::exchange(other.from_, nullptr)} {}

  ~child_process() {
    if (to_ != nullptr) std::fclose(to_);
    if (from_ != nullptr) std::fclose(from_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

  void say(char const* line) {
    std::fprintf(to_, "%s\n", line);
    std::fflush(to_);
  }

  /// The next number the child prints.
  double number() {
    double value = 0;
    if (std::fscanf(from_, "%lf", &value) != 1) fail("a child process ended early");
    return value;
  }

 private:
  pid_t pid_ = 0;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace bench
