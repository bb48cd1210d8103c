// Bodies of environment_writer.hpp.
#pragma once

#include "heist/observe/environment_writer.hpp"

#include <cerrno>
#include <cstdio>   // fprintf
#include <cstdlib>  // getenv
#include <cstring>  // strerror
#include <exception>
#include <fstream>
#include <new>  // bad_alloc
#include <string>
#include <utility>  // move

#include "heist/base/env.hpp"
#include "heist/observe/chrome_trace.hpp"
#include "heist/observe/recorder.hpp"
#include "heist/observe/task_edges.hpp"
#include "heist/observe/trace_report.hpp"

namespace heist::detail {

class environment_writer final : public environment_trace {
 public:
  environment_writer(task_edges& edges, std::string trace, std::string report)
      : edges_{edges}, trace_{std::move(trace)}, report_{std::move(report)} {}

  graph_listener* edges() const noexcept override { return &edges_; }
  void write(std::vector<std::uint32_t> const& squad_of) noexcept override;

  void start(std::size_t workers) override { events_.start(workers); }
  void task_begin(std::size_t worker, task_view const& task) noexcept override { events_.task_begin(worker, task); }
  void task_end(std::size_t worker, task_view const& task) noexcept override { events_.task_end(worker, task); }
  void steal(std::size_t thief, std::size_t victim) noexcept override { events_.steal(thief, victim); }
  void sleep(std::size_t worker) noexcept override { events_.sleep(worker); }
  void wake(std::size_t worker) noexcept override { events_.wake(worker); }
  void park(std::size_t worker, void const* fiber) noexcept override { events_.park(worker, fiber); }
  void resume(std::size_t worker, void const* fiber) noexcept override { events_.resume(worker, fiber); }

 private:
  task_edges& edges_;
  recorder events_;
  std::string trace_, report_;  ///< files, or empty
};

HEIST_COLD_BODY void environment_writer::write(std::vector<std::uint32_t> const& squad_of) noexcept {
  try {
    if (!trace_.empty()) write_chrome_trace(trace_, events_, &edges_);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "heist: %s\n", e.what());
  }
  try {
    if (report_ == "-") {
      std::fprintf(stderr, "%s", summarize(events_, &edges_, squad_of).text().c_str());
    } else if (!report_.empty()) {
      errno = 0;
      std::ofstream file{report_, std::ios::binary | std::ios::trunc};
      if (file) write_report(file, events_, &edges_, squad_of);
      file.close();
      if (!file)
        std::fprintf(stderr,
                     "heist: cannot write the report %s: %s; name a file in a directory that exists and has room\n",
                     report_.c_str(), errno != 0 ? std::strerror(errno) : "output error");
    }
  } catch (std::exception const& e) {
    std::fprintf(stderr, "heist: %s\n", e.what());
  }
}

/// What an environment's variable names for the `number`-th executor, or nothing.
HEIST_COLD_BODY std::string trace_file(char const* variable, std::size_t number) {
  char const* const text = std::getenv(variable);
  std::string name = text == nullptr ? "" : text;
  if (name.empty() || name == "-") return name;
  if (std::size_t const at = name.find("%p"); at != std::string::npos)
    name.replace(at, 2, std::to_string(os_env::process()));
  if (number == 1) return name;
  std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || name.find('/', dot) != std::string::npos) dot = name.size();
  return name.insert(dot, "-" + std::to_string(number));
}

HEIST_COLD_BODY environment_trace* make_environment_trace() noexcept {
  static constinit os_env::atomic<std::size_t> executors{0};
  try {
    // Of the process: a graph that one executor has laid out may run on another. Never destroyed, as executors may be
    // used until the very end.
    static task_edges& edges = *new task_edges;
    std::size_t const number = executors.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number on its own
    return new environment_writer{edges, trace_file("HEIST_TRACE", number), trace_file("HEIST_REPORT", number)};
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}

}  // namespace heist::detail
