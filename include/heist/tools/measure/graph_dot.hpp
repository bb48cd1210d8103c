// A picture of a graph that has run, with the times of its tasks.
#pragma once

#include <iosfwd>

#include "heist/core/base/config.hpp"
#include "heist/graph/task_graph.hpp"
#include "heist/tools/observe/recorder.hpp"

namespace heist {

/// Writes the graph in the DOT language, as task_graph::dot does, with the times of `recording`. Below each name are
/// the number of runs of the task and its average busy time, without the time that it was parked. The path that was
/// busy longest is red. The label has the limits ("limit 2 of 4"). The tasks of a composed graph are in a frame; its
/// first task is the one that runs them.
///
/// heist::executor<heist::policy::random, heist::recorder> ex; ex.run_n(g, 5).get(); heist::write_dot(std::cout, g,
/// ex.observer());
///
/// With a loop through conditions no path is red. Do not call it while the graph or another task of the executor
/// runs. Cost: O(events + tasks + edges).
void write_dot(std::ostream& out, task_graph const& g, recorder const& recording);

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/measure/graph_dot.ipp"
#endif
