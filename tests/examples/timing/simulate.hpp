// Evaluates the logic of a linked netlist of combinational gates, 64 input patterns at once.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/timing/netlist.hpp"

namespace timing_test {

/// The 64 values of one output of a function whose input i has the values inputs[i].
inline std::uint64_t evaluate(timing::truth_table function, std::vector<std::uint64_t> const& inputs) {
  std::uint64_t result = 0;
  for (std::size_t state = 0; state < (std::size_t{1} << inputs.size()); ++state) {
    if ((function >> state & 1) == 0) continue;
    std::uint64_t matches = ~std::uint64_t{0};
    for (std::size_t i = 0; i < inputs.size(); ++i) matches &= (state >> i & 1) != 0 ? inputs[i] : ~inputs[i];
    result |= matches;
  }
  return result;
}

/// Fills in the values of all nets, given those of the inputs.
inline void simulate(timing::netlist const& circuit, std::vector<std::uint64_t>& values) {
  for (auto const g : circuit.order) {
    auto const& kin = circuit.family_of(g);
    if (circuit.gates[g].cell == timing::library().input_port()) continue;
    std::vector<std::uint64_t> inputs;
    for (auto const n : circuit.inputs(g)) inputs.push_back(values[n]);
    auto const outputs = circuit.outputs(g);
    for (std::size_t out = 0; out < outputs.size(); ++out) {
      if (outputs[out] != timing::nothing) values[outputs[out]] = evaluate(kin.functions[out], inputs);
    }
  }
}

}  // namespace timing_test
