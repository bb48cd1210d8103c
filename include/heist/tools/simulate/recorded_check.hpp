// Is a recording a program, and which?
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/program.hpp"
#include "heist/tools/simulate/recorded_program.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist::sim {

/// Throws sim_error if the recording is no forest of tasks whose roots are those of its runs, or no graph; the message
/// names the task. Cost: O(n log n).
void check(recorded_program const& recorded);

/// What simulate() takes. Throws as check() does.
program to_program(recorded_program const& recorded);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/recorded_check.ipp"
#endif
