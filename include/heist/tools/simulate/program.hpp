// The simulated program: fork/join trees and task graphs in flat arrays, run one after another.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heist/tools/simulate/duration.hpp"

namespace heist::sim {

/// No task, no region.
inline constexpr std::uint32_t none = ~std::uint32_t{0};

/// The most tasks that a program may have.
inline constexpr std::size_t most_tasks = std::size_t{1} << 26;

/// A piece of memory that a task touches once from its beginning to its end, at the start of a stage.
struct touch {
  std::uint64_t address = 0;  ///< in an address space of the program's own
  std::uint32_t bytes = 0;
  bool writes = false;  ///< copies of it in other caches become stale
};

/// A task's work up to a join: it works, forks some children that run side by side, and waits for all of them.
struct stage {
  ticks work = 0;
  std::uint32_t first_touch = 0, touches = 0;
  std::uint32_t first_child = 0,
                children = 0;  ///< numbers of tasks, one after another; the first is the serial order's
};

struct task {
  std::uint32_t first_stage = 0, stages = 0;
  std::uint32_t parent = none;  ///< the task that forks it; none for roots and nodes of graphs
  std::uint32_t index = 0;      ///< how many tasks its parent has forked before it
  std::uint32_t function = 0;   ///< equal for equal code; 0: unknown
};

/// A phase that is run again and again: what heist::region is to a real program.
struct region_info {
  std::string name;
  std::uint64_t bytes = 0;      ///< all data that it touches (S_d); 0 unknown
  std::uint32_t branching = 0;  ///< into how many parts a task divides its data (B); 0 unknown
};

/// A tree or a graph that is run; the next run begins when it has ended.
struct run {
  std::uint32_t first = 0;      ///< the root of a tree, or a graph's first node
  std::uint32_t nodes = 0;      ///< of a graph, one after another; 0: a tree
  std::uint32_t region = none;  ///< runs of one region share its memory
};

/// A program in the form that simulate() takes. A regular value that does not change; program_builder makes it.
///
/// The same tree may be run several times: an iterative program costs no more memory than its step.
class program {
 public:
  std::string const& name() const noexcept { return name_; }
  std::size_t task_count() const noexcept { return tasks_.size(); }
  std::span<run const> runs() const noexcept { return runs_; }
  std::span<region_info const> regions() const noexcept { return regions_; }

  task const& task_at(std::uint32_t t) const noexcept { return tasks_[t]; }
  stage const& stage_at(std::uint32_t t, std::uint32_t s) const noexcept { return stages_[tasks_[t].first_stage + s]; }
  std::span<stage const> stages_of(std::uint32_t t) const noexcept {
    return {stages_.data() + tasks_[t].first_stage, tasks_[t].stages};
  }
  std::span<touch const> touches() const noexcept { return touches_; }

  /// Of a node of a graph.
  std::span<std::uint32_t const> successors(std::uint32_t node) const noexcept {
    if (node + std::size_t{1} >= successor_begin_.size()) return {};
    return {successors_.data() + successor_begin_[node], successor_begin_[node + 1] - successor_begin_[node]};
  }
  std::uint32_t predecessors(std::uint32_t node) const noexcept {
    return node < predecessors_.size() ? predecessors_[node] : 0;
  }

  /// How many tasks all runs together have.
  std::uint64_t tasks_run() const noexcept { return tasks_run_; }
  /// t1: the sum of all work, without costs of memory and of scheduling.
  ticks work() const noexcept { return work_; }
  /// t_inf: the longest chain of work that must be done one after another.
  ticks span() const noexcept { return span_; }

 private:
  friend class program_builder;

  std::string name_;
  std::vector<task> tasks_;  ///< children stand behind their parents
  std::vector<stage> stages_;
  std::vector<touch> touches_;
  std::vector<run> runs_;
  std::vector<region_info> regions_;
  std::vector<std::uint32_t> successor_begin_, successors_, predecessors_;  ///< empty without graphs
  std::uint64_t tasks_run_ = 0;
  ticks work_ = 0, span_ = 0;
};

}  // namespace heist::sim
