// Random netlists, the same for the same seed: all cells, flip-flops in loops, dangling outputs, one net on many pins.
#pragma once

#include <random>
#include <vector>

#include "examples/timing/link.hpp"
#include "examples/timing/netlist.hpp"

namespace timing_test {

inline timing::netlist random_circuit(std::uint64_t seed, std::size_t gates) {
  std::mt19937_64 random{seed};
  auto const below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  timing::netlist circuit;
  circuit.name = circuit.file = "random_" + std::to_string(seed);
  std::vector<timing::net_id> ready;  // nets that a gate may read without closing a loop
  for (std::size_t i = 0; i < 1 + below(8); ++i) ready.push_back(circuit.add_port("i" + std::to_string(i), true));
  std::vector<timing::gate_id> late;  // flip-flops, whose inputs may come from anywhere
  for (std::size_t made = 0; made < gates;) {
    auto const id = static_cast<timing::cell_id>(below(timing::library().size()));
    if (id == timing::library().input_port()) continue;
    auto const& kin = timing::library().family_of(id);
    std::vector<timing::net_id> ties;
    for (std::size_t pin = 0; pin < kin.pinned.size(); ++pin) {
      if (pin < kin.input_count) {
        auto const reach = below(4) == 0 ? ready.size() : std::min<std::size_t>(ready.size(), 12);
        ties.push_back(ready[ready.size() - 1 - below(reach)]);
      } else if (kin.output_count > 1 && below(3) == 0) {
        ties.push_back(timing::nothing);
      } else {
        ties.push_back(circuit.add_net("n" + std::to_string(circuit.nets.size())));
        circuit.nets.back().is_output = below(20) == 0;
      }
    }
    auto const g = circuit.add_gate("g" + std::to_string(made), id, ties);
    if (kin.kind == timing::cell_kind::flip_flop) late.push_back(g);
    for (std::size_t pin = kin.input_count; pin < ties.size(); ++pin) {
      if (ties[pin] != timing::nothing) ready.push_back(ties[pin]);
    }
    ++made;
  }
  for (auto const g : late) {
    auto const& kin = circuit.family_of(g);
    for (std::size_t pin = 0; pin < kin.input_count; ++pin) {
      circuit.pinned[circuit.gates[g].first_pin + pin] = ready[below(ready.size())];
    }
  }
  for (timing::net_id n = 0; n < circuit.nets.size(); ++n) {
    if (circuit.nets[n].is_output) circuit.ports.push_back(n);
  }
  timing::link(circuit);
  return circuit;
}

}  // namespace timing_test
