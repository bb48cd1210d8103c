// The exceptions of heist. Each message names the fault, its reason, and the fix.
#pragma once

#include <exception>  // current_exception
#include <stdexcept>  // runtime_error

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"

namespace heist {

/// Base of the exceptions of heist that report a fault. A stop is none (stopped_error). Exceptions from user code pass
/// through unchanged.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A task graph that cannot run or must not be changed now: a cycle, no source, an edit during a run.
struct graph_error : error {
  using error::error;
};

/// A machine description that cannot be read or does not make sense.
struct topology_error : error {
  using error::error;
};

/// An executor that cannot be made as asked for, or is used where it must not be.
struct executor_error : error {
  using error::error;
};

/// No memory or no mappings left for a fiber's stack.
struct stack_error : error {
  using error::error;
};

/// A region that is used by two runs at a time, or whose memory (profile, steal tree) cannot be read or does not fit.
struct region_error : executor_error {
  using executor_error::executor_error;
};

/// An algorithm has been called with arguments that it cannot work on: a grain of 0, a key outside of its histogram.
struct algorithm_error : error {
  using error::error;
};

/// A text that is not JSON, or JSON of another form than the caller asked for.
struct json_error : error {
  using error::error;
};

/// There is no result, because a stop was requested before. A task may throw it, too. It is no heist::error: code that
/// handles faults must not swallow a stop.
struct stopped_error : std::runtime_error {
  using std::runtime_error::runtime_error;
  stopped_error() : std::runtime_error{"stopped"} {}
};

}  // namespace heist

namespace heist::detail {

/// In a handler of a task's exceptions: the exception. A foreign exception is the end of a thread (pthread_exit): a
/// worker must not end so, and no handler may stop it.
HEIST_COLD inline std::exception_ptr exception_of_task() noexcept {
  std::exception_ptr caught = std::current_exception();
  if (!caught) {
    HEIST_FATAL(
        "a task has ended its thread, which is a worker's (pthread_exit), or has thrown what is no C++ exception; fix "
        "it by returning from the task, or by throwing a C++ exception");
  }
  return caught;
}

}  // namespace heist::detail
