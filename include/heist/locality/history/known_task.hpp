// A graph's knowledge of one of its tasks, and the task's place in the run in progress.
#pragma once

#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/runnable.hpp"

namespace heist::detail {

struct record;

/// A task's worker, its times, and the bytes that it touches. A loop can make the task ready, and run it, twice at a
/// time: fields are written by os_env::store_shared(), and the last writer counts.
struct task_past {
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};

  std::uint32_t worker = no_place;  ///< nowhere: it has not run
  std::uint32_t squad = no_place;   ///< of that worker
  std::uint32_t place = no_place;   ///< among the tasks that this worker began, from 0
  std::uint32_t from = no_place;    ///< the worker that made it ready
  std::int64_t begin = 0;           ///< nanoseconds since the pass began
  std::int64_t end = 0;
  std::uint64_t bytes = 0;  ///< as declared, as counted, or of the values that it takes and leaves; 0: not known

  bool known() const noexcept { return worker != no_place; }
  friend bool operator==(task_past const&, task_past const&) = default;
};

/// A count that starts at 0 in every copy.
struct ready_count : os_env::atomic<std::uint32_t> {
  ready_count() noexcept : os_env::atomic<std::uint32_t>{0} {}
  ready_count(ready_count const&) noexcept : ready_count{} {}
  ready_count& operator=(ready_count const&) noexcept { return *this; }
};

/// It is what stands in a worker's lists when the task belongs to that worker.
///
/// Threads  written by the worker that makes the task ready, then by the task.
struct known_task : queued_runnable {
  static constexpr std::uint32_t no_place = task_past::no_place;

  record* of = nullptr;
  std::uint32_t index = 0;  ///< the node's index, and its birth: they identify the task
  std::uint32_t created = 0;
  task_past past;
  std::uint64_t left = 0;  ///< bytes of the value that it has left in the first pass since it was arranged

  // In the run in progress.
  std::uint32_t scheduler = no_place;  ///< the worker that is to run it; nowhere: any
  std::uint32_t turn = no_place;       ///< its place in that worker's list, where the order is followed
  std::uint32_t part = 0;              ///< its part of the graph (division.hpp), under policies with squads
  ready_count ready;                   ///< in a graph with conditions: how often it is ready and has not begun
  bool admitted = false;               ///< its turn has come
  bool passed = false;                 ///< it has given the turn on
  bool declared = false;               ///< the user has declared the bytes that it touches
  bool counted = false;                ///< its bytes are counted as cache misses
};

}  // namespace heist::detail
