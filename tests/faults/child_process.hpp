// Runs a function in a child process, for tests of events that end a process, hang it, or take its resources away.
#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include "faults/fault_sites.hpp"
#include "heist/core/base/config.hpp"

namespace heist_test {

/// The end of a child, and its output.
struct child_report {
  bool timed_out = false;  ///< killed by run_child after its time was up
  int exit_code = -1;      ///< -1 if it did not exit
  int signal = 0;          ///< the signal that killed it, 0 if none did
  std::string output{};    ///< standard output and standard error

  bool clean() const { return !timed_out && exit_code == 0; }
  bool says(char const* words) const { return output.find(words) != std::string::npos; }
  std::string text() const {
    return std::string{timed_out ? "hung; " : ""} + "exit code " + std::to_string(exit_code) + ", signal " +
           std::to_string(signal) + ", output:\n" + output;
  }
};

inline void restore_default_signals() {
  for (int const s : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM, SIGINT}) std::signal(s, SIG_DFL);
}

/// Calls `body` in a child made by fork() and exits with 0, or with 1 and a text if it throws. To be called while this
/// process has no other threads. `limit` is for a machine of one's own; after ten times as long, or forty times under
/// sanitizers, the child is killed.
template <class Body>
child_report run_child(Body body, std::chrono::seconds limit = std::chrono::seconds{20}) {
  limit *= heist::under_asan || heist::under_tsan ? 40 : 10;
  std::fflush(stdout);
  std::fflush(stderr);
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error{"no pipe for a child process"};
  ::pid_t const child = ::fork();
  if (child < 0) throw std::runtime_error{"no child process"};
  if (child == 0) {
    restore_default_signals();
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    int code = 0;
    try {
      body();
    } catch (std::exception const& e) {
      std::fprintf(stderr, "exception: %s\n", e.what());
      code = 1;
    }
    std::fflush(stdout);
    std::fflush(stderr);
    ::_exit(code);
  }
  ::close(ends[1]);
  child_report report;
  auto const deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    auto const left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      report.timed_out = true;
      ++board().hangs;
      ::kill(child, SIGKILL);
      break;
    }
    pollfd look{ends[0], POLLIN, 0};
    if (::poll(&look, 1, static_cast<int>(left)) <= 0) continue;
    char buffer[4096];
    auto const n = ::read(ends[0], buffer, sizeof buffer);
    if (n <= 0) break;
    report.output.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) report.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) report.signal = WTERMSIG(status);
  return report;
}

}  // namespace heist_test

/// In a child: names the condition that does not hold and exits with 2.
#define CHILD_REQUIRE(condition)                                                          \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::fflush(nullptr);                                                               \
      ::_exit(2);                                                                         \
    }                                                                                     \
  } while (false)
