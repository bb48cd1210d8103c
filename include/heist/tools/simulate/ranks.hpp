// A graph over many processes in simulated time: ranks with workers, and a network between them.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/duration.hpp"

namespace heist::sim {

/// The time that a value needs from one process to another, in the program's unit of time. The defaults are nanoseconds
/// on one machine, by shared memory; their source: README.md, "Network".
struct network {
  ticks latency = 6000;                    ///< of a value without bytes, while nothing else is under way
  double link = 0.15;                      ///< a byte: values from one rank to another come one after the other
  ticks crossing = 700;                    ///< of a worker at either end, for each value
  double copying = 0.25;                   ///< of a worker at either end, for each byte
  std::uint64_t copied_up_to = 16 * 1024;  ///< bytes: larger values are sent from, and come to, their own memory
};

/// A task of a rank. It takes the values of other tasks, which stand before it.
struct rank_task {
  ticks work = 0;
  std::uint64_t bytes = 0;  ///< of its value
  std::uint32_t rank = 0;
  std::vector<std::uint32_t> inputs;
};

struct rank_options {
  std::uint32_t ranks = 1;
  std::uint32_t workers = 1;  ///< of each rank
  sim::network network;
  ticks node = 50;  ///< for each task beyond its work
};

struct rank_report {
  ticks makespan = 0;
  std::vector<ticks> busy;      ///< by rank: of all its workers
  std::uint64_t crossings = 0;  ///< a value is sent once to each rank that takes it
  std::uint64_t bytes = 0;      ///< of those
};

/// Runs the tasks: a worker that is free takes a value that has come, or the ready task of its rank from which the
/// longest path leads to the end. Workers of a rank do not search or steal here: simulate() says what that costs. The
/// same arguments give the same report. Throws sim_error for an input that does not stand before its task, and a rank
/// that there is not.
/// Cost: some 200 ns for each task and value.
rank_report simulate_ranks(std::vector<rank_task> const& tasks, rank_options const& wanted);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/ranks.ipp"
#endif
