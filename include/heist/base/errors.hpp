// The exceptions of heist. Each message says what is wrong, why, and how to mend it.
#pragma once

#include <stdexcept>  // runtime_error

namespace heist {

/// Base of every exception that heist itself throws; exceptions from user code pass through unchanged.
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

/// A text that is not JSON, or JSON that is not what was asked for.
struct json_error : error {
  using error::error;
};

/// A task that was not run because its stop_token was asked to stop before.
struct stopped_error : error {
  using error::error;
};

}  // namespace heist
