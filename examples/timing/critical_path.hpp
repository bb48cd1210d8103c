// Finds the path on which a signal reaches an end point last, or first.
#pragma once

#include "end_points.hpp"

#include <algorithm>  // reverse
#include <vector>

namespace timing {

/// One gate of a path, and the edge of the net that it drives.
struct path_step {
  gate_id gate = nothing;
  std::size_t pin = 0;  // the input pin of the path; meaningless for the first gate
  net_id net = nothing;
  std::size_t edge = rise;
  femtoseconds arrival = 0;
  femtoseconds delay = 0;
};

namespace detail {

/// The step before `here`: the input whose arrival plus delay is exactly the arrival at `here`.
inline path_step step_back(netlist const& circuit, times const& t, path_step& here, std::size_t bound, std::size_t c) {
  auto const& kin = circuit.family_of(here.gate);
  auto const inputs = circuit.inputs(here.gate);
  auto const outputs = circuit.outputs(here.gate);
  std::size_t out = 0;
  while (outputs[out] != here.net) ++out;
  for (std::size_t pin = 0; pin < inputs.size(); ++pin) {
    for (std::size_t edge : {rise, fall}) {
      auto const way = kin.senses[out][pin];
      if (way == (edge == here.edge ? sense::negative : sense::positive)) continue;
      auto const delay = t.delay(here.gate, pin, here.net, bound, edge, here.edge, c);
      auto const before = t.arrival(inputs[pin], bound, edge, c);
      if (before + delay != here.arrival) continue;
      here.pin = pin;
      here.delay = delay;
      return {circuit.nets[inputs[pin]].driver, 0, inputs[pin], edge, before, before};
    }
  }
  return {};  // unreachable: the arrival is the largest, or least, of these sums
}

}  // namespace detail

/// The path that decides the arrival at `end`, from its start to its end.
inline std::vector<path_step> path_to(netlist const& circuit, times const& t, end_point const& end) {
  std::vector<path_step> path;
  if (end.net == nothing) return path;
  auto const arrival = t.arrival(end.net, end.bound, end.edge, end.corner);
  path_step here{circuit.nets[end.net].driver, 0, end.net, end.edge, arrival, arrival};
  while (here.gate != nothing && circuit.family_of(here.gate).is_combinational()) {
    auto const before = detail::step_back(circuit, t, here, end.bound, end.corner);
    path.push_back(here);
    here = before;
  }
  if (here.gate != nothing) path.push_back(here);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace timing
