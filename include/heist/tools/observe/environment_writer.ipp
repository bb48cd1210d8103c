// Bodies of environment_writer.hpp.
#pragma once

#include "heist/tools/observe/environment_writer.hpp"

#include <fcntl.h>     // open
#include <pthread.h>   // pthread_sigmask
#include <signal.h>    // sigtimedwait
#include <sys/stat.h>  // stat
#include <unistd.h>    // close, getcwd

#include <cerrno>
#include <cstdio>   // fprintf
#include <cstring>  // strerror
#include <exception>
#include <fstream>
#include <iostream>  // cerr
#include <new>       // bad_alloc
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "heist/core/base/env.hpp"
#include "heist/core/base/environment.hpp"
#include "heist/tools/observe/chrome_trace.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/observe/report_sink.hpp"
#include "heist/tools/observe/task_edges.hpp"
#include "heist/tools/observe/trace_report.hpp"

namespace heist::detail {

/// The file that a variable names for the `number`-th executor, or an empty text. The name is absolute, because the
/// program may change its directory before the file is written.
HEIST_COLD_BODY std::string trace_file(variable which, std::size_t number) {
  std::string name{environment_text(which)};
  if (name.empty() || name == "-") return name;
  if (std::size_t const at = name.find("%p"); at != std::string::npos)
    name.replace(at, 2, std::to_string(os_env::process()));
  if (number != 1) {
    std::size_t dot = name.rfind('.');
    if (dot == std::string::npos || name.find('/', dot) != std::string::npos) dot = name.size();
    name.insert(dot, "-" + std::to_string(number));
  }
  if (name.front() == '/') return name;
  char directory[4096];
  return ::getcwd(directory, sizeof directory) == nullptr ? name : fmt::format("{}/{}", directory, name);
}

class environment_writer final : public environment_trace {
 public:
  environment_writer(task_edges& edges, std::size_t number)
      : edges_{edges},
        number_{number},
        trace_{trace_file(variable::trace, number)},
        report_{trace_file(variable::report, number)} {}

  ~environment_writer() override {
    std::size_t last = number_;
    // relaxed: a number on its own
    if (!writes_) executors().compare_exchange_strong(last, number_ - 1, std::memory_order_relaxed);
  }
  /// How many the process has made.
  static os_env::atomic<std::size_t>& executors() noexcept {
    static os_env::atomic<std::size_t> made{0};
    return made;
  }

  graph_listener* edges() const noexcept override { return &edges_; }
  void write(std::vector<std::uint32_t> const& squad_of, std::string_view policy) noexcept override;

  void start(std::size_t workers) override { events_.start(workers); }
  void task_begin(std::size_t worker, task_view const& task) noexcept override { events_.task_begin(worker, task); }
  void task_end(std::size_t worker, task_view const& task) noexcept override { events_.task_end(worker, task); }
  void module_end(std::size_t worker, task_view const& task) noexcept override { events_.module_end(worker, task); }
  void steal(std::size_t thief, std::size_t victim) noexcept override { events_.steal(thief, victim); }
  void sleep(std::size_t worker) noexcept override { events_.sleep(worker); }
  void wake(std::size_t worker) noexcept override { events_.wake(worker); }
  void park(std::size_t worker, void const* fiber, wait_view const& wait) noexcept override {
    events_.park(worker, fiber, wait);
  }
  void resume(std::size_t worker, void const* fiber) noexcept override { events_.resume(worker, fiber); }

 private:
  task_edges& edges_;
  recorder events_;
  std::size_t const number_;    ///< the executor's number, from 1
  bool writes_ = false;         ///< otherwise the executor was not made
  std::string trace_, report_;  ///< files, or empty
};

/// The writing ends, but not the program, if the reader of a pipe leaves (SIGPIPE) or a file reaches its size limit
/// (SIGXFSZ): the signal is kept back, and taken.
class without_signal {
 public:
  explicit without_signal(int signal) noexcept {
    ::sigemptyset(&kept_);
    ::sigaddset(&kept_, signal);
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
    ::pthread_sigmask(SIG_BLOCK, &kept_, &before_);
  }
  without_signal(without_signal const&) = delete;
  without_signal& operator=(without_signal const&) = delete;
  ~without_signal() {
    timespec const now{};
    while (!was_pending_ && ::sigtimedwait(&kept_, nullptr, &now) > 0) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t kept_, before_;
  bool was_pending_ = false;
};

/// Opens the file and calls write(stream). Prints one sentence if that fails. "-": stderr. Does not wait for a reader
/// of a pipe.
template <class Write>
void write_wanted(char const* what, std::string const& name, Write&& write) noexcept {
  if (name.empty()) return;
  try {
    without_signal const no_pipe{SIGPIPE}, no_limit{SIGXFSZ};
    if (name == "-") return write(std::cerr);
    int error = 0, pipe = -1;
    struct ::stat kind {};
    if (::stat(name.c_str(), &kind) == 0 && S_ISFIFO(kind.st_mode)) {
      pipe = ::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
      if (pipe < 0) error = errno;
    }
    if (error == 0) {
      errno = 0;
      std::ofstream file{name, std::ios::binary | std::ios::trunc};
      if (pipe >= 0) ::close(pipe);  // closed only now: its reader would see the end before
      if (file) write(file);
      file.close();
      if (file) return;
      error = errno;
    }
    std::fprintf(stderr, "heist: cannot write the %s %s: %s; name a file in a directory that exists and has room\n",
                 what, name.c_str(),
                 error == ENXIO ? "it is a pipe that no process reads"
                 : error != 0   ? std::strerror(error)
                                : "output error");
  } catch (std::exception const& e) {
    std::fprintf(stderr, "heist: %s\n", e.what());
  }
}

HEIST_COLD_BODY void environment_writer::write(std::vector<std::uint32_t> const& squad_of,
                                               std::string_view policy) noexcept {
  writes_ = true;
  write_wanted("trace", trace_, [&](std::ostream& out) {
    task_edges const told{edges_};  // graphs of other executors may tell more meanwhile
    write_chrome_trace(out, events_, &told);
  });
  write_wanted("report", report_, [&](std::ostream& out) {
    task_edges const told{edges_};  // as above
    report_sink seen{events_, &told, squad_of};
    seen.sum.recorded = recorded_here(fmt::format(", executor {}, {}", number_, policy));
    if (report_ == "-") {
      out << seen.sum.text();
    } else {
      write_page(out, seen, &told);
    }
  });
}

HEIST_COLD_BODY environment_trace* make_environment_trace() noexcept {
  try {
    // One object per process: a graph that one executor has laid out may run on another. Never destroyed, as executors
    // may be used until the very end.
    static task_edges& edges = *new task_edges;
    std::size_t const number =
        environment_writer::executors().fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number on its own
    return new environment_writer{edges, number};
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

}  // namespace heist::detail
