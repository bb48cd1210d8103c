// The slack of the end points: output ports, and the pins of flip-flops except their clocks.
#pragma once

#include "times.hpp"

#include <algorithm>  // max
#include <vector>

namespace timing {

/// An end point at one edge and corner.
struct end_point {
  net_id net = nothing;
  sink at{nothing, 0};  // gate is `nothing` for an output port
  std::size_t bound = late;
  std::size_t edge = rise;
  std::size_t corner = 0;
  femtoseconds slack = unconstrained;
};

/// How long before the end of the period a signal must have arrived.
inline femtoseconds setup_at(netlist const& circuit, sink const& at, std::size_t edge, std::size_t c) noexcept {
  return at.gate == nothing ? 0 : times::setup(circuit.family_of(at.gate), edge, c);
}

/// How long after the beginning of the period the old signal must stay.
inline femtoseconds hold_at(netlist const& circuit, sink const& at, std::size_t edge, std::size_t c) noexcept {
  return at.gate == nothing ? 0 : times::hold(circuit.family_of(at.gate), edge, c);
}

/// The worst edge and corner of one end point.
inline end_point worst_at(netlist const& circuit, times const& t, end_pin const& end, std::size_t bound) {
  end_point worst;
  for (std::size_t edge : {rise, fall}) {
    for (std::size_t c = 0; c < t.corner_count(); ++c) {
      auto const arrival = t.arrival(end.net, bound, edge, c);
      auto const slack = bound == late ? t.period() - setup_at(circuit, end.at, edge, c) - arrival
                                       : arrival - hold_at(circuit, end.at, edge, c);
      if (worst.net == nothing || slack < worst.slack) worst = {end.net, end.at, bound, edge, c, slack};
    }
  }
  return worst;
}

/// The end point with the least slack; its net is `nothing` when the circuit has none.
inline end_point worst_end_point(netlist const& circuit, times const& t, std::size_t bound = late) {
  end_point worst;
  for (auto const& end : circuit.ends) {
    auto const here = worst_at(circuit, t, end, bound);
    if (worst.net == nothing || here.slack < worst.slack) worst = here;
  }
  return worst;
}

/// The worst slack of each end point.
inline std::vector<femtoseconds> end_point_slacks(netlist const& circuit, times const& t) {
  std::vector<femtoseconds> result;
  result.reserve(circuit.ends.size());
  for (auto const& end : circuit.ends) result.push_back(worst_at(circuit, t, end, late).slack);
  return result;
}

/// The shortest period that every end point meets. Needs all arrival times.
inline femtoseconds shortest_period(netlist const& circuit, times const& t) {
  femtoseconds longest = 0;
  for (auto const& end : circuit.ends) {
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < t.corner_count(); ++c) {
        longest = std::max(longest, t.arrival(end.net, late, edge, c) + setup_at(circuit, end.at, edge, c));
      }
    }
  }
  return longest;
}

}  // namespace timing
