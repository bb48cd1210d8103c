// Merge sort: halves are sorted side by side, then merged by their parent.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// What mergesort() makes.
struct mergesort_options {
  std::uint64_t elements = std::uint64_t{1} << 20;
  std::uint64_t leaf_elements = 4096;  ///< so many are sorted by one task
  std::uint64_t element_bytes = 4;
  double ticks_per_element = 2;  ///< to merge one; to sort n: log2 n times as much for each
  std::uint32_t rounds = 1;      ///< sorts, one after another, on the same memory
};

/// Sorts in one array and merges into the other and back.
program mergesort(mergesort_options const& wanted);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/mergesort.ipp"
#endif
