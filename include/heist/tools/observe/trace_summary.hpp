// Where the time of a recorded program went, as a value. trace_report.hpp makes it.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist {

/// Where the time of a recorded program went. Times are nanoseconds, beginnings counted from the recording's start.
struct trace_summary {
  /// The totals of one worker.
  struct worker {
    std::uint32_t squad = 0;
    std::int64_t busy_ns = 0;    ///< with a task
    std::int64_t asleep_ns = 0;  ///< the rest of elapsed_ns: searching_ns()
    std::size_t tasks = 0;       ///< tasks that began on it
    std::size_t sleeps = 0;
  };
  /// One execution of a task.
  struct task {
    std::string name;        ///< or its kind
    std::size_t number = 0;  ///< number among all tasks, in the order of their begins
    std::size_t worker = 0;  ///< where it ended
    std::int64_t begin_ns = 0, end_ns = 0;
    std::int64_t busy_ns = 0;  ///< the time while parked excluded
  };

  /// All executions of the tasks of one name, or, without a name, of one kind. A stage of a pipeline has its own: its
  /// times are its tokens, for the first stage with the call that says stop. So has a region.
  struct name {
    std::string name;
    std::size_t times = 0;
    std::int64_t busy_ns = 0, longest_ns = 0;  ///< with the tasks that ran inside them
  };

  /// A worker's work from a steal to its next steal or sleep. Where work went the same way from worker to worker more
  /// than once, all of it is one branch.
  struct branch {
    static constexpr std::size_t none = ~std::size_t{0};
    std::size_t worker = 0;
    std::size_t from = none;  ///< the branch that it was taken from; none: it was not stolen
    std::size_t times = 0;    ///< so many steals
    std::size_t tasks = 0;    ///< that began
    std::int64_t busy_ns = 0;
  };

  std::string recorded;  ///< the program, the machine, and the time of the report; empty: text() does not say
  std::int64_t elapsed_ns = 0;
  std::size_t tasks = 0;
  std::size_t parks = 0;     ///< tasks that resumed elsewhere or later
  std::size_t released = 0;  ///< events and edges for which there was no room
  std::vector<worker> workers;
  std::vector<std::vector<std::size_t>> steals;  ///< [thief][victim]
  std::vector<branch> steal_tree;                ///< each after the one that it was taken from
  std::vector<name> names;                       ///< at most ten, the busiest first
  /// The reasons of the waits of parked tasks, at most ten, the longest first. `busy_ns` counts from the park to the
  /// resumption.
  std::vector<name> waits;
  std::vector<task> longest;        ///< at most ten, the longest first
  std::vector<task> critical_path;  ///< the chain of tasks, along edges of graphs, that was busy longest
  std::int64_t critical_ns = 0;     ///< how long it was busy
  /// All passes of the graph of that path: their number, the sum of their critical paths, and the busy time of their
  /// tasks. The quotient of the last two is how many workers could be busy at a time.
  std::size_t critical_passes = 0;
  std::int64_t critical_all_ns = 0, critical_work_ns = 0;

  /// How long a worker has looked for work, or was between tasks, which is seldom long.
  std::int64_t searching_ns(std::size_t worker) const noexcept;
  /// All workers' busy time, as a part of what there was.
  double utilisation() const noexcept;
  /// Work by span of the graph of the critical path. 1: a chain. 0 without a critical path.
  double parallelism() const noexcept;
  /// The least time that so many workers need for all passes of that graph, and the most, if nothing costs time but the
  /// tasks (R. L. Graham, "Bounds on Multiprocessing Timing Anomalies": span + (work - span) / workers).
  std::int64_t least_ns(std::size_t workers) const noexcept;
  std::int64_t most_ns(std::size_t workers) const noexcept;
  /// Steals within a squad, and all.
  std::size_t steals_within_squads() const noexcept;
  std::size_t steal_count() const noexcept;
  /// Some lines for people.
  std::string text() const;
};

}  // namespace heist
