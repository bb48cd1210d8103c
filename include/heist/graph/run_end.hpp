// The end of a run, for tasks that come after it (heist::after).
#pragma once

#include "heist/core/executor/async.hpp"
#include "heist/graph/run_state.hpp"

namespace heist::detail {

struct run_access {
  static run_state& state(graph_run const& run) { return run.checked(); }
};

/// A task of `scheduler` that ends when `run` has ended, with the exception that graph_run::get() would throw. The caller
/// owns a share. heist::after finds this function by its arguments. Throws executor_error for a handle of no run.
async_state<void>* end_of_run(graph_run const& run, core& scheduler);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/run_end.ipp"
#endif
