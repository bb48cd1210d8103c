// One step: every cell becomes the mean of its four neighbours (Jacobi). The rows are halved recursively, and the
// halves run in parallel. The policy decides which worker runs them.
#pragma once

#include <algorithm>  // max
#include <cmath>      // abs
#include <cstddef>    // size_t
#include <cstdint>
#include <span>

#include "placement.hpp"
#include "plate.hpp"

namespace heat {

/// Computes the next temperatures of one row.
inline void relax_row(plate& p, std::size_t row) {
  double const* const above = p.now(row - 1).data();
  double const* const here = p.now(row).data();
  double const* const below = p.now(row + 1).data();
  double* const next = p.next(row).data();
  for (auto const& run : p.free_runs(row)) {
    for (std::size_t c = run.first; c < run.last; ++c)
      next[c] = 0.25 * (here[c - 1] + here[c + 1] + above[c] + below[c]);
  }
}

/// The largest difference between current and next temperatures of a row, in degrees.
inline double largest_change(plate& p, std::size_t row) {
  auto const now = p.now(row);
  auto const next = p.next(row);
  double largest = 0;
  for (std::size_t c = 0; c < now.size(); ++c) largest = std::max(largest, std::abs(next[c] - now[c]));
  return largest;
}

/// The data that all tasks of one step share.
struct step {
  plate& grid;
  std::size_t leaf_rows;                        ///< the most rows of one task
  bool measures;                                ///< true: also find the largest change
  placed_by by;                                 ///< computed_by receives squads or workers
  std::span<placement_record::id> computed_by;  ///< output: one entry per computed row
};

/// Computes rows [first, last). Returns the largest change of a cell in degrees if the step measures, otherwise 0.
template <class Context>
double relax(Context ctx, step const& s, std::size_t first, std::size_t last) {
  if (last - first > s.leaf_rows) {
    std::size_t const middle = first + (last - first) / 2;
    auto const [upper, lower] = ctx.fork_join([&](Context c) { return relax(c, s, first, middle); },
                                              [&](Context c) { return relax(c, s, middle, last); });
    return std::max(upper, lower);
  }
  ctx.footprint((2 * (last - first) + 2) * s.grid.columns() * sizeof(double));
  auto const who = s.by == placed_by::squad ? ctx.squad_id() : ctx.worker_id();
  double largest = 0;
  for (std::size_t row = first; row < last; ++row) {
    relax_row(s.grid, row);
    if (s.measures) largest = std::max(largest, largest_change(s.grid, row));
    s.computed_by[row - 1] = static_cast<placement_record::id>(who);
  }
  return largest;
}

/// Computes the whole step on one thread, without tasks.
inline void relax_serially(plate& p) {
  for (std::size_t row = 1; row <= p.computed_rows(); ++row) relax_row(p, row);
  p.advance();
}

}  // namespace heat
