// The solver: one task that computes all steps, and enters each step through the same region.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <cstddef>  // size_t
#include <optional>

#include "placement.hpp"
#include "plate.hpp"
#include "progress.hpp"
#include "relax.hpp"

namespace heat {

struct solver_options {
  std::size_t most_steps = 500;
  std::optional<double> tolerance;  ///< stops when no cell changes by more, in degrees per step; checked at times
  std::size_t leaf_rows = 16;
  placed_by by = placed_by::squad;
};

/// The solver finds the largest change in every tenth step, because that costs as much as the step itself.
inline constexpr std::size_t steps_per_look = 10;

struct solution {
  std::size_t steps = 0;
  double change = 0;  ///< the largest change of a cell in the last step, in degrees
  bool has_converged = false;
  double seconds = 0;
};

/// Computes steps until an option ends the loop. For the next step, the region keeps the data that the policy learns in
/// this one.
template <class Context>
solution solve(Context ctx, heist::region& sweep, plate& p, solver_options const& o, placement_record& record,
               progress& visible) {
  solution s;
  std::optional<double> seen;
  auto const begin = clock::now();
  visible.start();
  while (s.steps < o.most_steps && !s.has_converged) {
    ++s.steps;
    bool const looks = s.steps == o.most_steps || (o.tolerance && s.steps % steps_per_look == 0);
    step const now{p, o.leaf_rows, looks, o.by, record.begin_step()};
    double const change = ctx.invoke(sweep, [&](auto c) { return relax(c, now, 1, p.computed_rows() + 1); });
    record.end_step();
    p.advance();
    if (looks) seen = s.change = change;
    s.has_converged = looks && o.tolerance && change <= *o.tolerance;
    visible.step(s.steps, o.most_steps, seen, o.tolerance);
  }
  s.seconds = seconds_since(begin);
  visible.clear();
  return s;
}

}  // namespace heat
