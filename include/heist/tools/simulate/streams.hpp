// How fast this machine delivers memory that is read in order: to one core, and to all of them at once. For the options of
// a simulation.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/options.hpp"

namespace heist::sim {

/// Speeds of this machine; 0: not there.
struct streams {
  /// Nanoseconds for a line of 64 bytes that one core reads: from its own cache, from its squad's, from memory ...
  double private_line = 0, shared_line = 0, memory_line = 0;
  double transfer_line = 0;  ///< ... that a core of another squad has just written
  double far_line = 0;       ///< ... from the memory of another NUMA node
  // Bytes in 1000 ns that several workers read together. 0 also if each of them reads as fast as one alone.
  double shared_bandwidth = 0;  ///< from the cache of one squad
  double memory_bandwidth = 0;  ///< from the memory of one node, to its cores
  double link_bandwidth = 0;    ///< from the memory of one node, to the cores of another
  friend bool operator==(streams const&, streams const&) = default;
};

/// Measures this machine with threads on the PUs of the workers of `wanted`, for its squads and sizes of caches.
/// `data_bytes`: what the simulated program touches, 0: far more than the caches. The simulator has two levels of caches,
/// so what lies behind the squads' is read from an array of that size, of four times their size at least.
///
/// Throws sim_error if `wanted` describes another machine or a thread cannot be started.
/// Cost: about a second, and memory of four times the caches, 512 MiB at most. The program must be compiled with
/// optimisation, and other programs must leave the cores alone: of five rounds the fastest counts.
streams measure_streams(options const& wanted, std::uint64_t data_bytes = 0);

/// Gives `into` these costs, beyond those of a line in a worker's own cache, and these bandwidths. With far memory pages
/// are where they are touched first. Ticks must be nanoseconds.
void set_memory(options& into, streams const& measured);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/streams.ipp"
#endif
