// Bodies of program_builder.hpp.
#pragma once

#include "heist/tools/simulate/program_builder.hpp"

#include <algorithm>  // max, min

#include "heist/tools/simulate/fail.hpp"

namespace heist::sim {

HEIST_COLD_BODY std::uint32_t program_builder::add_tree(std::uint32_t region) {
  auto const root = add_tasks(1, none, 0);
  again(root, region);
  return root;
}

HEIST_COLD_BODY std::uint32_t program_builder::add_graph(std::uint32_t nodes, std::uint32_t times) {
  if (nodes == 0) detail::fail("a graph without nodes cannot be run; fix it by at least one node");
  auto const first = add_tasks(nodes, none, 0);
  for (std::uint32_t i = 0; i != times; ++i) made_.runs_.push_back({first, nodes, none});
  return first;
}

HEIST_COLD_BODY void program_builder::begin(std::uint32_t t, std::uint32_t function) {
  if (t >= made_.tasks_.size() || made_.tasks_[t].stages != 0)
    detail::fail("task {} of {} is begun twice or does not exist; fix it by one begin() for each task", t,
                 made_.tasks_.size());
  now_ = t;
  spawned_ = 0;
  made_.tasks_[t].first_stage = static_cast<std::uint32_t>(made_.stages_.size());
  made_.tasks_[t].function = function;
  add_stage();
}

HEIST_COLD_BODY void program_builder::touch(std::uint64_t address, std::uint64_t bytes, bool writes) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  for (; bytes != 0; address += most, bytes -= std::min(bytes, most)) {
    made_.touches_.push_back({address, static_cast<std::uint32_t>(std::min(bytes, most)), writes});
    ++made_.stages_.back().touches;
  }
}

HEIST_COLD_BODY std::uint32_t program_builder::fork(std::uint32_t children) {
  auto const first = add_tasks(children, now_, spawned_);
  spawned_ += children;
  made_.stages_.back().first_child = first;
  made_.stages_.back().children = children;
  add_stage();
  return first;
}

HEIST_COLD_BODY program program_builder::finish() {
  if (made_.tasks_.empty() || made_.runs_.empty())
    detail::fail("the program \"{}\" has no tasks; fix it by add_tree() or add_graph()", made_.name_);
  for (std::size_t t = 0; t != made_.tasks_.size(); ++t) {
    if (made_.tasks_[t].stages == 0)
      detail::fail("task {} of \"{}\" has no begin(), so its work is unknown; fix it by begin({})", t, made_.name_, t);
  }
  link_graphs();
  measure();
  return std::move(made_);
}

HEIST_COLD_BODY ticks program_builder::sum(ticks a, ticks b) {
  if (b > most_ticks || a + b > most_ticks)
    detail::fail("the program works longer than 2^62 ticks; fix it by shorter tasks, or fewer");
  return a + b;
}

HEIST_COLD_BODY std::uint32_t program_builder::add_tasks(std::uint32_t count, std::uint32_t parent,
                                                         std::uint32_t index) {
  if (count > most_tasks - made_.tasks_.size())
    detail::fail("the program \"{}\" has more than {} tasks; fix it by fewer or coarser ones", made_.name_, most_tasks);
  auto const first = static_cast<std::uint32_t>(made_.tasks_.size());
  for (std::uint32_t i = 0; i != count; ++i) made_.tasks_.push_back({0, 0, parent, index + i, 0});
  return first;
}

HEIST_COLD_BODY void program_builder::link_graphs() {
  if (edges_.empty()) return;
  std::size_t const n = made_.tasks_.size();
  auto& begin = made_.successor_begin_;
  begin.assign(n + 1, 0);
  made_.predecessors_.assign(n, 0);
  for (auto const& [before, after] : edges_) {
    if (before >= n || after >= n || before == after)
      detail::fail("an edge leads from node {} to {} of {}; fix it by edges between two nodes", before, after, n);
    ++begin[before + std::size_t{1}];
    ++made_.predecessors_[after];
  }
  for (std::size_t i = 0; i != n; ++i) begin[i + 1] += begin[i];
  auto next = begin;
  made_.successors_.resize(edges_.size());
  for (auto const& [before, after] : edges_) made_.successors_[next[before]++] = after;
}

HEIST_COLD_BODY void program_builder::measure() {
  std::vector<ticks> work(made_.tasks_.size()), span(made_.tasks_.size());
  std::vector<std::uint32_t> size(made_.tasks_.size(), 1);
  for (std::size_t i = made_.tasks_.size(); i-- > 0;) {
    for (stage const& s : made_.stages_of(static_cast<std::uint32_t>(i))) {
      ticks longest = 0;
      work[i] = sum(work[i], s.work);
      for (std::uint32_t c = s.first_child; c != s.first_child + s.children; ++c) {
        work[i] = sum(work[i], work[c]);
        longest = std::max(longest, span[c]);
        size[i] += size[c];
      }
      span[i] += s.work + longest;
    }
  }
  run const* last = nullptr;
  ticks work_of_run = 0, span_of_run = 0;
  std::uint64_t size_of_run = 0;
  for (run const& r : made_.runs_) {
    if (last == nullptr || r.first != last->first || r.nodes != last->nodes) {  // else it is the same once more
      work_of_run = 0, size_of_run = 0;
      span_of_run = r.nodes != 0 ? longest_chain(r, span) : span[r.first];
      for (std::uint32_t t = r.first; t != r.first + std::max(r.nodes, 1u); ++t) {
        work_of_run = sum(work_of_run, work[t]);
        size_of_run += size[t];
      }
    }
    last = &r;
    made_.work_ = sum(made_.work_, work_of_run);
    made_.span_ = sum(made_.span_, span_of_run);
    made_.tasks_run_ += size_of_run;
  }
}

HEIST_COLD_BODY ticks program_builder::longest_chain(run const& r, std::vector<ticks> const& span) const {
  std::vector<std::uint32_t> waits(r.nodes), ready;
  std::vector<ticks> start(r.nodes);
  for (std::uint32_t i = 0; i != r.nodes; ++i) {
    waits[i] = made_.predecessors(r.first + i);
    if (waits[i] == 0) ready.push_back(i);
  }
  ticks longest = 0;
  for (std::size_t done = 0; done != ready.size(); ++done) {
    std::uint32_t const i = ready[done];
    ticks const end = start[i] + span[r.first + i];
    longest = std::max(longest, end);
    for (std::uint32_t const after : made_.successors(r.first + i)) {
      if (after < r.first || after - r.first >= r.nodes)
        detail::fail("an edge leads from node {} out of its graph; fix it by edges within one graph", r.first + i);
      start[after - r.first] = std::max(start[after - r.first], end);
      if (--waits[after - r.first] == 0) ready.push_back(after - r.first);
    }
  }
  if (ready.size() != r.nodes)
    detail::fail("the graph has a cycle: {} of its {} nodes wait for each other; fix it by removing an edge",
                 r.nodes - ready.size(), r.nodes);
  return longest;
}

}  // namespace heist::sim
