// HEIST_TRACE=file and HEIST_REPORT=file: a program's trace and report without compiling it again. This is the part
// that executors see; environment_writer.hpp does the work.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string_view>
#include <utility>  // move
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/observe/graph_listener.hpp"
#include "heist/core/observe/observer.hpp"

namespace heist::detail {

/// Records the events of an executor that has no observer, because the environment asks for it, and writes them when it
/// ends.
///
/// Cost      an executor that was made while neither is set looks at a pointer for each task.
/// Threads   as a recorder.
class environment_trace {
 public:
  static constexpr bool observes = true;

  virtual ~environment_trace() = default;
  /// Null if the environment asks for nothing; also, with a sentence on stderr, if nothing in the program can write it
  /// or there is no memory for it.
  static unique_ptr<environment_trace> wanted() noexcept;
  /// Where graphs tell their edges.
  virtual graph_listener* edges() const noexcept = 0;
  /// Writes the trace that the environment asks for. A file that cannot be written is a sentence on stderr.
  virtual void write(std::vector<std::uint32_t> const& squad_of, std::string_view policy) noexcept = 0;

  // As an observer.
  virtual void start(std::size_t workers) = 0;
  virtual void task_begin(std::size_t worker, task_view const& task) noexcept = 0;
  virtual void task_end(std::size_t worker, task_view const& task) noexcept = 0;
  virtual void module_end(std::size_t worker, task_view const& task) noexcept = 0;
  virtual void steal(std::size_t thief, std::size_t victim) noexcept = 0;
  virtual void sleep(std::size_t worker) noexcept = 0;
  virtual void wake(std::size_t worker) noexcept = 0;
  virtual void park(std::size_t worker, void const* fiber, wait_view const& wait) noexcept = 0;
  virtual void resume(std::size_t worker, void const* fiber) noexcept = 0;

  /// Makes them, or returns null without memory; null itself while no file of the program includes heist/report.hpp.
  using maker = environment_trace* (*)() noexcept;
  HEIST_ONE_COPY static inline constinit maker make = nullptr;
};

/// A trace, or none: the observer of a loop that is the same with and without one.
class optional_trace {
 public:
  static constexpr bool observes = true;

  optional_trace(unique_ptr<environment_trace> trace) noexcept : trace_{std::move(trace)} {}
  explicit operator bool() const noexcept { return trace_ != nullptr; }
  environment_trace& operator*() const noexcept { return *trace_; }
  environment_trace* operator->() const noexcept { return trace_.get(); }

  // As an observer; tasks only if there is one.
  void task_begin(std::size_t worker, task_view const& task) noexcept { trace_->task_begin(worker, task); }
  void task_end(std::size_t worker, task_view const& task) noexcept { trace_->task_end(worker, task); }
  void steal(std::size_t thief, std::size_t victim) noexcept {
    if (trace_) trace_->steal(thief, victim);
  }
  void sleep(std::size_t worker) noexcept {
    if (trace_) trace_->sleep(worker);
  }
  void wake(std::size_t worker) noexcept {
    if (trace_) trace_->wake(worker);
  }

 private:
  unique_ptr<environment_trace> trace_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/observe/environment_trace.ipp"
#endif
