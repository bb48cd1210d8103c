// Schedules from one list of all ready nodes, without any cost of scheduling: what HEFT does on equal workers, and
// first come, first served.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "graphs.hpp"

namespace graph_order {

/// The upward rank of each node: the work on the longest way to the end, its own included.
inline std::vector<sim::ticks> upward_ranks(graph const& g, std::vector<std::vector<std::uint32_t>> const& to) {
  std::vector<std::uint32_t> left(g.work.size()), order;
  for (auto const& [from, after] : g.edges) ++left[after];
  for (std::uint32_t i = 0; i != left.size(); ++i) {
    if (left[i] == 0) order.push_back(i);
  }
  for (std::size_t i = 0; i != order.size(); ++i) {
    for (std::uint32_t const after : to[order[i]]) {
      if (--left[after] == 0) order.push_back(after);
    }
  }
  std::vector<sim::ticks> rank(g.work.size());
  for (std::size_t i = order.size(); i-- != 0;) {
    for (std::uint32_t const after : to[order[i]]) rank[order[i]] = std::max(rank[order[i]], rank[after]);
    rank[order[i]] += g.work[order[i]];
  }
  return rank;
}

/// The time that `workers` workers take. A free worker takes the ready node of the highest rank (`by_rank`), or the
/// node that has been ready longest.
inline sim::ticks list_schedule(graph const& g, std::uint32_t workers, bool by_rank) {
  std::vector<std::vector<std::uint32_t>> to(g.work.size());
  std::vector<std::uint32_t> left(g.work.size());
  for (auto const& [from, after] : g.edges) to[from].push_back(after), ++left[after];
  std::vector<sim::ticks> const rank = upward_ranks(g, to);
  std::uint64_t come = 0;
  std::priority_queue<std::pair<std::uint64_t, std::uint32_t>> ready;  // the largest first
  auto const add = [&](std::uint32_t i) { ready.emplace(by_rank ? rank[i] : ~come++, i); };
  for (std::uint32_t i = 0; i != left.size(); ++i) {
    if (left[i] == 0) add(i);
  }
  using end = std::pair<sim::ticks, std::uint32_t>;
  std::priority_queue<end, std::vector<end>, std::greater<>> running;
  sim::ticks now = 0;
  while (!ready.empty() || !running.empty()) {
    while (!ready.empty() && running.size() != workers) {
      running.emplace(now + g.work[ready.top().second], ready.top().second);
      ready.pop();
    }
    now = running.top().first;
    std::uint32_t const ended = running.top().second;
    running.pop();
    for (std::uint32_t const after : to[ended]) {
      if (--left[after] == 0) add(after);
    }
  }
  return now;
}

}  // namespace graph_order
