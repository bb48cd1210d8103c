// The runs of a program, one after another, and the nodes of graphs. Members of frames.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/frames.hpp"
#include "heist/tools/simulate/inter_frames.hpp"

namespace heist::sim {

/// The task that runs the program's runs resumes on `w`.

/// A node has ended: one of the successors that are now ready runs next, the other ones may be stolen.

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/runs.ipp"
#endif
