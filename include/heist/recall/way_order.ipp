// Bodies of way_order.hpp.
#pragma once

#include "heist/recall/way_order.hpp"

#include <algorithm>  // max, stable_sort
#include <cstdint>

#include "heist/graph/graph_data.hpp"
#include "heist/recall/known_task.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool order_by_time(graph_data& g, std::vector<known_task> const& tasks) {
  if (g.counts_tokens || tasks.size() != g.record_count) return false;
  for (known_task const& t : tasks) {
    if (!t.past.known() || t.past.end < t.past.begin) return false;
  }
  std::vector<std::int64_t> way(tasks.size());
  // Positions are in an order in which one worker could run the tasks: the ways of a task's successors are known.
  for (std::uint32_t p = g.record_count; p-- != 0;) {
    successor* const begin = g.owned_successors.get() + g.records[p].first_successor;
    successor* const end = g.owned_successors.get() + g.records[p + 1].first_successor;
    std::stable_sort(begin, end, [&way](successor a, successor b) { return way[a.position()] > way[b.position()]; });
    way[p] = (begin == end ? 0 : way[begin->position()]) + tasks[p].past.end - tasks[p].past.begin;
  }
  std::stable_sort(g.sources.begin(), g.sources.end(),
                   [&way](std::uint32_t a, std::uint32_t b) { return way[a] > way[b]; });
  return true;
}

}  // namespace heist::detail
