// Bodies of way_order.hpp.
#pragma once

#include "heist/locality/history/way_order.hpp"

#include <algorithm>  // max, sort
#include <cstdint>

#include "heist/graph/graph_data.hpp"
#include "heist/locality/history/known_task.hpp"

namespace heist::detail {

/// Orders tasks that become ready together.
class order_of_ways {
 public:
  order_of_ways(std::vector<known_task> const& tasks, std::uint32_t workers)
      : tasks_{tasks}, way_(tasks.size()), rank_(tasks.size()), workers_{workers} {}

  /// The longest way behind the task at `position` takes `next`.
  void take(std::uint32_t position, std::int64_t next) { way_[position] = next + time_of(position); }
  std::int64_t way(std::uint32_t position) const { return way_[position]; }

  template <class Item, class Position>
  void sort(Item* begin, Item* end, Position at) {
    if (end - begin < 2) return;
    std::int64_t all = 0;
    for (Item* i = begin; i != end; ++i) all += time_of(at(*i));
    std::int64_t const step = std::max<std::int64_t>(all / workers_ / 4, 1);
    // Counted from the middle one: no step ends there, among tasks that take about the same time.
    std::sort(begin, end, [&](Item a, Item b) { return way_[at(a)] < way_[at(b)]; });
    std::int64_t const lowest = way_[at(begin[(end - begin) / 2])] - step / 2;
    for (Item* i = begin; i != end; ++i) {
      std::int64_t const more = way_[at(*i)] - lowest;
      rank_[at(*i)] = more < 0 ? (more + 1) / step - 1 : more / step;
    }
    std::sort(begin, end, [&](Item a, Item b) {
      return rank_[at(a)] != rank_[at(b)] ? rank_[at(a)] > rank_[at(b)] : at(a) < at(b);
    });
  }

 private:
  std::int64_t time_of(std::uint32_t position) const { return tasks_[position].past.end - tasks_[position].past.begin; }

  std::vector<known_task> const& tasks_;
  std::vector<std::int64_t> way_, rank_;  // by position
  std::uint32_t const workers_;
};

HEIST_COLD_BODY bool order_by_time(graph_data& g, std::vector<known_task> const& tasks, std::uint32_t workers) {
  if (g.counts_tokens || tasks.size() != g.record_count) return false;
  for (known_task const& t : tasks) {
    if (!t.past.known() || t.past.end < t.past.begin) return false;
  }
  order_of_ways order{tasks, workers};
  // Positions are in an order in which one worker could run the tasks: the ways of a task's successors are known.
  for (std::uint32_t p = g.record_count; p-- != 0;) {
    successor* const begin = g.owned_successors.data() + g.records[p].first_successor;
    successor* const end = g.owned_successors.data() + g.records[p + 1].first_successor;
    std::int64_t longest = 0;
    for (successor const* s = begin; s != end; ++s) longest = std::max(longest, order.way(s->position()));
    order.take(p, longest);
    order.sort(begin, end, [](successor s) { return s.position(); });
  }
  order.sort(g.sources.data(), g.sources.data() + g.sources.size(), [](std::uint32_t p) { return p; });
  return true;
}

}  // namespace heist::detail
