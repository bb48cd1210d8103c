// Programs that sweep over the rows of a matrix, again and again: heat, successive over-relaxation, Gauss elimination
// (the benchmarks of CAB and CATS).
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// Parameters of heat(), sor() and gauss_elimination().
struct matrix_options {
  std::uint64_t rows = 1024, columns = 1024;
  std::uint32_t steps = 10;
  std::uint64_t leaf_rows = 32;  ///< a task of at most so many rows is not divided
  std::uint32_t branching = 2;   ///< into how many parts the others are
  std::uint64_t element_bytes = 8;
  double ticks_per_element = 1;  ///< to compute one, memory excluded
  /// The first of `branching` parts is three times as large as each other one, at every division.
  bool unbalanced = false;
  /// Gauss elimination: tasks divide, and touch, only the rest below and right of the pivot; else all rows, as a whole,
  /// in each step.
  bool only_what_is_left = false;
};

/// Five-point heat: each step reads one array, with the rows above and below, and writes the other.
program heat(matrix_options const& wanted);

/// Successive over-relaxation, red and black: two sweeps a step, each of which changes every second element.
program sor(matrix_options const& wanted);

/// Gauss elimination without pivoting on `columns` of `rows`; as many steps as there are rows but one, `steps` is not
/// used. Step k changes all rows below k with the help of row k, from column k on. Tasks above do nothing.
program gauss_elimination(matrix_options wanted);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/matrices.ipp"
#endif
