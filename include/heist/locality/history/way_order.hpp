// Which of the tasks that become ready together begins first, where a graph knows how long each takes.
#pragma once

#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist::detail {

struct graph_data;
struct known_task;

/// Sorts the successors of each task, and the tasks without predecessors. The key is the time on the longest way from
/// each to the end, by `tasks` (known_task::past), the longest first. Ways that differ by less than a quarter of the
/// time that `workers` need for all tasks of the list count as equal: neighbours stay together, whatever the noise.
/// Equal ones are in the order of the layout, which is by the number of tasks (graph/README.md, "Order"). Between
/// passes. False, and nothing is changed, where a task has no time, or conditions choose tasks by their places. Cost:
/// edges, times the logarithm of a task's. Throws bad_alloc.
bool order_by_time(graph_data& g, std::vector<known_task> const& tasks, std::uint32_t workers);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/history/way_order.ipp"
#endif
