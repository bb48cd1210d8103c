// A picture of a graph that has run, with the times of its tasks.
#pragma once

#include <iosfwd>

#include "heist/base/config.hpp"
#include "heist/graph/task_graph.hpp"
#include "heist/observe/recorder.hpp"

namespace heist {

/// Writes the graph in the DOT language, as task_graph::dot does, with what `recording` has seen of it: below each name
/// how often the task ran and how long it was busy on average, without what it was parked; in red the path through the
/// graph that was busy longest. Limits stand in the label ("limit 2 of 4"). Composed graphs are opened: their tasks
/// stand in a frame with the task that runs them, which is the first of them.
///
///   heist::executor<heist::policy::random, heist::recorder> ex;
///   ex.run_n(g, 5).get();
///   heist::write_dot(std::cout, g, ex.observer());
///
/// No path is red where conditions make a loop. Neither the graph nor the executor may be at work.
/// Cost: O(events + tasks + edges).
void write_dot(std::ostream& out, task_graph const& g, recorder const& recording);

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/measure/graph_dot.ipp"
#endif
