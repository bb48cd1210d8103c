// Makes programs: tells what each task does in the order in which it does it.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <utility>  // move, pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/program.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist::sim {

/// For each task, once: begin(), then its work: work() and touch() up to a fork(), which joins before the next call.
///
///   auto root = b.add_tree(region);
///   b.begin(root); b.work(10); auto first = b.fork(2); b.work(5);        // first and first + 1 are its children
///   b.begin(first); b.work(100); b.begin(first + 1); b.work(100);
///
/// Throws sim_error for more than most_tasks tasks, and for durations that add up to more than 2^62.
class program_builder {
 public:
  explicit program_builder(std::string name) { made_.name_ = std::move(name); }

  std::uint32_t add_region(region_info info) {
    made_.regions_.push_back(std::move(info));
    return static_cast<std::uint32_t>(made_.regions_.size() - 1);
  }
  void set_region_bytes(std::uint32_t region, std::uint64_t bytes) { made_.regions_[region].bytes = bytes; }

  /// Adds a tree that runs after all runs added so far; returns its root. `again()` runs it once more.
  std::uint32_t add_tree(std::uint32_t region = none);
  void again(std::uint32_t root, std::uint32_t region = none) { made_.runs_.push_back({root, 0, region}); }

  /// A graph that is run `times` times; its first node, the others follow.
  std::uint32_t add_graph(std::uint32_t nodes, std::uint32_t times = 1);
  /// `after` waits for `before`; both of the same graph.
  void precede(std::uint32_t before, std::uint32_t after) { edges_.emplace_back(before, after); }

  /// From here on it is told what task `t` does. `function`: equal for equal code, 0 unknown.
  void begin(std::uint32_t t, std::uint32_t function = 0);
  void work(ticks t) { made_.stages_.back().work = sum(made_.stages_.back().work, t); }
  void touch(std::uint64_t address, std::uint64_t bytes, bool writes);
  /// Forks so many children and joins them. The number of the first; the others follow.
  std::uint32_t fork(std::uint32_t children);

  std::size_t task_count() const noexcept { return made_.tasks_.size(); }

  /// Once, at the end. Throws sim_error for tasks that were not begun, a graph with a cycle, and a program that does
  /// nothing. Cost: linear.
  program finish();

 private:
  static constexpr ticks most_ticks = ticks{1} << 62;

  static ticks sum(ticks a, ticks b);

  std::uint32_t add_tasks(std::uint32_t count, std::uint32_t parent, std::uint32_t index);
  void add_stage() {
    made_.stages_.push_back({0, static_cast<std::uint32_t>(made_.touches_.size()), 0, 0, 0});
    ++made_.tasks_[now_].stages;
  }

  void link_graphs();

  /// Work and span of every task with its subtree, then of every run.
  void measure();

  ticks longest_chain(run const& r, std::vector<ticks> const& span) const;

  program made_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::uint32_t now_ = 0;
  std::uint32_t spawned_ = 0;  ///< children of the present task so far
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/program_builder.ipp"
#endif
