// The whole analysis on one thread, in topological order: the baseline for the task graph.
#pragma once

#include "end_points.hpp"

#include <optional>

namespace timing {

/// Times the circuit. If there is no period, it takes the shortest possible one, so that the worst slack is 0.
inline void time_serial(netlist const& circuit, times& t, std::optional<femtoseconds> period) {
  for (auto const g : circuit.order) {
    t.update_loads(g);
    t.update_arrivals(g);
  }
  t.period(period ? *period : shortest_period(circuit, t));
  for (auto i = circuit.order.size(); i-- > 0;) t.update_requireds(circuit.order[i]);
}

}  // namespace timing
