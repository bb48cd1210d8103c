// Bodies of node_order.hpp.
#pragma once

#include "heist/tools/simulate/node_order.hpp"

#include <algorithm>  // max, pop_heap, push_heap, stable_sort

namespace heist::sim {

HEIST_COLD_BODY ordered_nodes::ordered_nodes(program const& p, node_order how, std::size_t workers)
    : how_{how}, program_{&p} {
  bool graphs = false;
  for (run const& r : p.runs()) graphs = graphs || r.nodes != 0;
  if (!graphs) return;
  begin_.push_back(0);
  for (std::uint32_t t = 0; t != p.task_count(); ++t) {
    auto const after = p.successors(t);
    successors_.insert(successors_.end(), after.begin(), after.end());
    begin_.push_back(successors_.size());
  }
  way_.resize(p.task_count());
  if (how == node_order::connected) return;
  for (run const& r : p.runs()) {
    if (r.nodes != 0 && way_[r.first] == 0) find_ways(r, p);
  }
  for (std::size_t t = 0; t + 1 < begin_.size(); ++t) {
    std::stable_sort(successors_.begin() + static_cast<std::ptrdiff_t>(begin_[t]),
                     successors_.begin() + static_cast<std::ptrdiff_t>(begin_[t + 1]),
                     [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
  }
  if (!is_urgent()) return;
  holder_.resize(p.task_count());
  ready_.resize(workers);
}

HEIST_COLD_BODY void ordered_nodes::find_ways(run const& r, program const& p) {
  bool const by_work = how_ == node_order::longest_by_work || how_ == node_order::urgent_by_work;
  std::vector<std::uint32_t> left(r.nodes), order;
  for (std::uint32_t i = 0; i != r.nodes; ++i) {
    left[i] = p.predecessors(r.first + i);
    if (left[i] == 0) order.push_back(r.first + i);
  }
  for (std::size_t i = 0; i != order.size(); ++i) {
    for (std::uint32_t const after : p.successors(order[i])) {
      if (--left[after - r.first] == 0) order.push_back(after);
    }
  }
  for (std::size_t i = order.size(); i-- != 0;) {
    ticks longest = 0, own = 1;
    for (std::uint32_t const after : p.successors(order[i])) longest = std::max(longest, way_[after]);
    if (by_work) {
      for (stage const& s : p.stages_of(order[i])) own += s.work;
    }
    way_[order[i]] = longest + own;
  }
}

HEIST_BODY std::vector<std::uint32_t> ordered_nodes::sources(run const& r) const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t t = r.first; t != r.first + r.nodes; ++t) {
    if (program_->predecessors(t) == 0) found.push_back(t);
  }
  std::stable_sort(found.begin(), found.end(), [this](std::uint32_t a, std::uint32_t b) { return before(a, b); });
  return found;
}

HEIST_BODY void ordered_nodes::pushed(std::uint32_t node, std::uint32_t worker) {
  if (!is_urgent()) return;
  holder_[node] = worker;
  ready_[worker].emplace_back(way_[node], ~node);  // of equal ones the first
  std::push_heap(ready_[worker].begin(), ready_[worker].end());
}

HEIST_BODY std::uint32_t ordered_nodes::taken(std::uint32_t node) {
  if (!is_urgent()) return node;
  auto& heap = ready_[holder_[node]];
  std::pop_heap(heap.begin(), heap.end());
  std::uint32_t const most_urgent = ~heap.back().second;
  heap.pop_back();
  return most_urgent;
}

}  // namespace heist::sim
