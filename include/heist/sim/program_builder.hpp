// Makes programs: tells what each task does in the order in which it does it.
#pragma once

#include <algorithm>  // max, min
#include <cstddef>    // size_t
#include <cstdint>
#include <string>
#include <utility>  // move, pair
#include <vector>

#include "heist/sim/program.hpp"
#include "heist/sim/sim_error.hpp"

namespace heist::sim {

/// For each task, once: begin(), then what it does: work() and touch() up to a fork(), which joins before what follows.
///
///   auto root = b.add_tree(region);
///   b.begin(root); b.work(10); auto first = b.fork(2); b.work(5);        // first and first + 1 are its children
///   b.begin(first); b.work(100); b.begin(first + 1); b.work(100);
///
/// Throws sim_error for more than most_tasks tasks, and for durations that add up to more than 2^62.
class program_builder {
 public:
  explicit program_builder(std::string name) { made_.name_ = std::move(name); }

  std::uint32_t add_region(region_facts facts) {
    made_.regions_.push_back(std::move(facts));
    return static_cast<std::uint32_t>(made_.regions_.size() - 1);
  }
  void set_region_bytes(std::uint32_t region, std::uint64_t bytes) { made_.regions_[region].bytes = bytes; }

  /// A tree that runs after what has been added before; its root. `again()` runs it once more.
  std::uint32_t add_tree(std::uint32_t region = none) {
    auto const root = add_tasks(1, none, 0);
    again(root, region);
    return root;
  }
  void again(std::uint32_t root, std::uint32_t region = none) { made_.runs_.push_back({root, 0, region}); }

  /// A graph that is run `times` times; its first node, the others follow.
  std::uint32_t add_graph(std::uint32_t nodes, std::uint32_t times = 1) {
    if (nodes == 0) detail::fail("a graph without nodes cannot be run; mend it by at least one node");
    auto const first = add_tasks(nodes, none, 0);
    for (std::uint32_t i = 0; i != times; ++i) made_.runs_.push_back({first, nodes, none});
    return first;
  }
  /// `after` waits for `before`; both of the same graph.
  void precede(std::uint32_t before, std::uint32_t after) { edges_.emplace_back(before, after); }

  /// From here on it is told what task `t` does. `function`: equal for equal code, 0 unknown.
  void begin(std::uint32_t t, std::uint32_t function = 0) {
    if (t >= made_.tasks_.size() || made_.tasks_[t].stages != 0)
      detail::fail("task {} of {} is begun twice or does not exist; mend it by one begin() for each task", t,
                   made_.tasks_.size());
    now_ = t;
    spawned_ = 0;
    made_.tasks_[t].first_stage = static_cast<std::uint32_t>(made_.stages_.size());
    made_.tasks_[t].function = function;
    add_stage();
  }
  void work(ticks t) { made_.stages_.back().work = sum(made_.stages_.back().work, t); }
  void touch(std::uint64_t address, std::uint64_t bytes, bool writes) {
    constexpr std::uint64_t most = std::uint64_t{1} << 31;
    for (; bytes != 0; address += most, bytes -= std::min(bytes, most)) {
      made_.touches_.push_back({address, static_cast<std::uint32_t>(std::min(bytes, most)), writes});
      ++made_.stages_.back().touches;
    }
  }
  /// Forks so many children and joins them. The number of the first; the others follow.
  std::uint32_t fork(std::uint32_t children) {
    auto const first = add_tasks(children, now_, spawned_);
    spawned_ += children;
    made_.stages_.back().first_child = first;
    made_.stages_.back().children = children;
    add_stage();
    return first;
  }

  std::size_t task_count() const noexcept { return made_.tasks_.size(); }

  /// Once, at the end. Throws sim_error for tasks that were not begun, a graph with a cycle, and a program that does
  /// nothing. Cost: linear.
  program finish() {
    if (made_.tasks_.empty() || made_.runs_.empty())
      detail::fail("the program \"{}\" has no tasks; mend it by add_tree() or add_graph()", made_.name_);
    for (std::size_t t = 0; t != made_.tasks_.size(); ++t) {
      if (made_.tasks_[t].stages == 0)
        detail::fail("nobody says what task {} of \"{}\" does; mend it by begin({})", t, made_.name_, t);
    }
    link_graphs();
    measure();
    return std::move(made_);
  }

 private:
  static constexpr ticks most_ticks = ticks{1} << 62;

  static ticks sum(ticks a, ticks b) {
    if (b > most_ticks || a + b > most_ticks)
      detail::fail("the program works longer than 2^62 ticks; mend it by shorter tasks, or fewer");
    return a + b;
  }

  std::uint32_t add_tasks(std::uint32_t count, std::uint32_t parent, std::uint32_t index) {
    if (count > most_tasks - made_.tasks_.size())
      detail::fail("the program \"{}\" has more than {} tasks; mend it by fewer or coarser ones", made_.name_,
                   most_tasks);
    auto const first = static_cast<std::uint32_t>(made_.tasks_.size());
    for (std::uint32_t i = 0; i != count; ++i) made_.tasks_.push_back({0, 0, parent, index + i, 0});
    return first;
  }
  void add_stage() {
    made_.stages_.push_back({0, static_cast<std::uint32_t>(made_.touches_.size()), 0, 0, 0});
    ++made_.tasks_[now_].stages;
  }

  void link_graphs() {
    if (edges_.empty()) return;
    std::size_t const n = made_.tasks_.size();
    auto& begin = made_.successor_begin_;
    begin.assign(n + 1, 0);
    made_.predecessors_.assign(n, 0);
    for (auto const& [before, after] : edges_) {
      if (before >= n || after >= n || before == after)
        detail::fail("an edge leads from node {} to {} of {}; mend it by edges between two nodes", before, after, n);
      ++begin[before + std::size_t{1}];
      ++made_.predecessors_[after];
    }
    for (std::size_t i = 0; i != n; ++i) begin[i + 1] += begin[i];
    auto next = begin;
    made_.successors_.resize(edges_.size());
    for (auto const& [before, after] : edges_) made_.successors_[next[before]++] = after;
  }

  /// Work and span of every task with its subtree, then of every run.
  void measure() {
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

  ticks longest_chain(run const& r, std::vector<ticks> const& span) const {
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
          detail::fail("an edge leads from node {} out of its graph; mend it by edges within one graph", r.first + i);
        start[after - r.first] = std::max(start[after - r.first], end);
        if (--waits[after - r.first] == 0) ready.push_back(after - r.first);
      }
    }
    if (ready.size() != r.nodes)
      detail::fail("the graph has a cycle: {} of its {} nodes wait for each other; mend it by removing an edge",
                   r.nodes - ready.size(), r.nodes);
    return longest;
  }

  program made_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::uint32_t now_ = 0;
  std::uint32_t spawned_ = 0;  ///< children of the present task so far
};

}  // namespace heist::sim
