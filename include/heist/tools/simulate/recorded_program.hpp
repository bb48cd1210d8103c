// A recorded run of a real program: each task's own work, and its parent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// A task of the run. Its number is its place in recorded_program::tasks; a parent may stand before or behind it.
struct recorded_task {
  static constexpr std::uint32_t no_parent = none;
  static constexpr std::uint64_t unknown_address = ~std::uint64_t{0};

  std::uint32_t parent = no_parent;  ///< the task that forked it; no_parent: the root of a run, or a graph's node
  std::uint32_t index = 0;           ///< how many tasks its parent had forked before it
  /// Which of its parent's forks it came from, 0 the first. Tasks of a group run side by side, and the parent joins all
  /// of them before it resumes to the next group. Groups do not fall with growing index, and none is left out.
  std::uint32_t group = 0;
  std::uint32_t function = 0;  ///< equal for equal code; 0 unknown
  std::uint64_t bytes = 0;     ///< memory that it touches itself, at most 2^40, all tasks 2^54; 0: none, or unknown
  /// Start of that memory, in any address space; only overlap counts. unknown_address: memory of its own, the same in
  /// every run of its region for the task of the same path.
  std::uint64_t address = unknown_address;
  bool writes = true;  ///< it changes that memory
  /// Nanoseconds that it worked itself: before its first group, between groups, after the last; groups + 1 of them.
  std::vector<std::uint64_t> work;

  friend bool operator==(recorded_task const&, recorded_task const&) = default;
};

/// The runs of a program stand in the order in which they ran, one after another.
struct recorded_run {
  std::uint32_t root = 0;
  std::uint32_t region = none;  ///< the region whose memory it shares: an index of recorded_program::regions
  friend bool operator==(recorded_run const&, recorded_run const&) = default;
};

struct recorded_region {
  std::string name;
  std::uint64_t bytes = 0;      ///< all data that it touches; 0 unknown
  std::uint32_t branching = 0;  ///< into how many parts a task divides its data; 0 unknown
  friend bool operator==(recorded_region const&, recorded_region const&) = default;
};

/// `after` waits for `before`.
struct recorded_edge {
  std::uint32_t before = 0, after = 0;
  friend bool operator==(recorded_edge const&, recorded_edge const&) = default;
};

/// A plain value that users may fill in. recorded_check.hpp says whether it makes sense and makes a program of it,
/// recorded_file.hpp writes and reads it.
struct recorded_program {
  static constexpr std::uint32_t most_graph_runs = std::uint32_t{1} << 20;

  std::string name;
  std::string recorded_on;  ///< machine, workers, date: for people
  std::vector<recorded_region> regions;
  std::vector<recorded_run> runs;    ///< of a fork/join program
  bool graph = false;                ///< all tasks are nodes of one graph instead: no parents, no runs
  std::uint32_t graph_runs = 1;      ///< how often that ran; at most most_graph_runs
  std::vector<recorded_edge> edges;  ///< of the graph
  std::vector<recorded_task> tasks;

  friend bool operator==(recorded_program const&, recorded_program const&) = default;
};

}  // namespace heist::sim
