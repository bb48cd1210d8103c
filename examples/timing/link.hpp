// Completes a netlist, or rejects it if it cannot be timed: open inputs, two drivers, no driver, combinational loops.
#pragma once

#include "error.hpp"
#include "netlist.hpp"

#include <algorithm>  // max, reverse
#include <utility>    // move

namespace timing {
namespace detail {

inline void add_input_ports(netlist& circuit) {
  circuit.cell_count = circuit.gates.size();
  for (net_id n = 0; n < circuit.nets.size(); ++n) {
    if (!circuit.nets[n].is_input) continue;
    net_id const ties[] = {n};
    circuit.add_gate(circuit.nets[n].name, library().input_port(), ties, circuit.nets[n].line);
  }
}

inline void find_drivers(netlist& circuit) {
  for (gate_id g = 0; g < circuit.gates.size(); ++g) {
    for (auto const n : circuit.outputs(g)) {
      if (n == nothing) continue;
      auto& driven = circuit.nets[n];
      if (driven.driver != nothing) {
        auto const& other = circuit.gates[driven.driver];
        auto const& last = other.line > circuit.gates[g].line ? other : circuit.gates[g];
        auto const& first = &last == &other ? circuit.gates[g] : other;
        throw netlist_error{
            circuit.file, last.line,
            fmt::format("net '{}' has two drivers, '{}' (line {}) and '{}': their values would fight; "
                        "give one of them a net of its own",
                        printable(driven.name), printable(first.name), first.line, printable(last.name))};
      }
      driven.driver = g;
    }
  }
}

inline void find_sinks(netlist& circuit) {
  circuit.first_sink.assign(circuit.nets.size() + 1, 0);
  for (gate_id g = 0; g < circuit.gates.size(); ++g) {
    auto const& kin = circuit.family_of(g);
    auto const inputs = circuit.inputs(g);
    for (std::size_t pin = 0; pin < inputs.size(); ++pin) {
      auto const n = inputs[pin];
      if (n == nothing) {
        throw netlist_error{circuit.file, circuit.gates[g].line,
                            fmt::format("gate '{}' leaves its input pin {} open: its output would be undefined; "
                                        "connect the pin with .{}(net)",
                                        printable(circuit.gates[g].name), kin.pinned[pin], kin.pinned[pin])};
      }
      ++circuit.first_sink[n + 1];
    }
  }
  for (std::size_t n = 0; n < circuit.nets.size(); ++n) circuit.first_sink[n + 1] += circuit.first_sink[n];
  circuit.sinks.resize(circuit.first_sink.back());
  auto next = circuit.first_sink;
  for (gate_id g = 0; g < circuit.gates.size(); ++g) {
    auto const inputs = circuit.inputs(g);
    for (std::uint32_t pin = 0; pin < inputs.size(); ++pin) circuit.sinks[next[inputs[pin]]++] = {g, pin};
  }
}

inline void reject_undriven(netlist const& circuit) {
  for (net_id n = 0; n < circuit.nets.size(); ++n) {
    auto const& wire = circuit.nets[n];
    bool const is_used = wire.is_output || !circuit.sinks_of(n).empty();
    if (wire.driver != nothing || !is_used) continue;
    auto const used = circuit.sinks_of(n).empty()
                          ? std::string{"an output of the circuit"}
                          : fmt::format("read by gate '{}' (line {})",
                                        printable(circuit.gates[circuit.sinks_of(n).front().gate].name),
                                        circuit.gates[circuit.sinks_of(n).front().gate].line);
    throw netlist_error{circuit.file, wire.line,
                        fmt::format("net '{}' has no driver but is {}: nothing would ever arrive there; "
                                    "restore the missing gate or declare the net as input",
                                    printable(wire.name), used)};
  }
}

/// The gates of one loop, in the order of the signal. `waiting` counts the remaining predecessors of each gate.
inline std::vector<gate_id> find_loop(netlist const& circuit, std::vector<std::uint32_t> const& waiting) {
  std::vector<std::uint32_t> seen_at(circuit.gates.size(), nothing);
  std::vector<gate_id> path;
  gate_id here = 0;
  while (waiting[here] == 0) ++here;
  while (seen_at[here] == nothing) {  // a waiting gate has a waiting predecessor: walk back until one repeats
    seen_at[here] = static_cast<std::uint32_t>(path.size());
    path.push_back(here);
    gate_id back = here;
    circuit.for_each_fan_in(here, [&](gate_id driver) { back = waiting[driver] != 0 ? driver : back; });
    here = back;
  }
  path.erase(path.begin(), path.begin() + seen_at[here]);
  std::reverse(path.begin(), path.end());
  return path;
}

[[noreturn]] inline void reject_loop(netlist const& circuit, std::vector<std::uint32_t> const& waiting) {
  constexpr std::size_t most_named = 12;
  auto const path = find_loop(circuit, waiting);
  std::string text;
  for (std::size_t i = 0; i < path.size() && i < most_named; ++i)
    text += printable(circuit.gates[path[i]].name) + " -> ";
  if (path.size() > most_named) text += fmt::format("... {} more gates ... -> ", path.size() - most_named);
  text += printable(circuit.gates[path.front()].name);
  throw netlist_error{
      circuit.file, circuit.gates[path.front()].line,
      fmt::format("combinational loop {}: a signal would chase its own tail, so no arrival time exists; "
                  "break the loop with a flip-flop or remove one of these connections",
                  text)};
}

/// Orders the gates depth first, as a worker runs a task graph. The successors of a gate are mostly close behind it.
inline void find_order(netlist& circuit) {
  std::vector<std::uint32_t> waiting(circuit.gates.size(), 0);
  std::vector<gate_id> ready;
  auto& order = circuit.order;
  order.clear();
  order.reserve(circuit.gates.size());
  circuit.level.assign(circuit.gates.size(), 0);
  for (gate_id g = 0; g < circuit.gates.size(); ++g) {
    circuit.for_each_fan_in(g, [&](gate_id) { ++waiting[g]; });
    if (waiting[g] == 0) ready.push_back(g);
  }
  while (!ready.empty()) {
    auto const g = ready.back();
    ready.pop_back();
    order.push_back(g);
    circuit.for_each_fan_out(g, [&](gate_id next) {
      circuit.level[next] = std::max(circuit.level[next], circuit.level[g] + 1);
      if (--waiting[next] == 0) ready.push_back(next);
    });
  }
  if (order.size() != circuit.gates.size()) reject_loop(circuit, waiting);
}

/// Numbers the nets in the order of their drivers, so that nets that are used together are close in memory.
inline void renumber_nets(netlist& circuit) {
  std::vector<net_id> number(circuit.nets.size(), nothing);
  net_id next = 0;
  for (auto const g : circuit.order) {
    for (auto const n : circuit.outputs(g)) {
      if (n != nothing) number[n] = next++;
    }
  }
  for (auto& n : number) n = n == nothing ? next++ : n;  // declared, but never used
  std::vector<net> nets(circuit.nets.size());
  for (net_id n = 0; n < nets.size(); ++n) nets[number[n]] = std::move(circuit.nets[n]);
  circuit.nets = std::move(nets);
  for (auto* list : {&circuit.pinned, &circuit.ports}) {
    for (auto& n : *list) n = n == nothing ? n : number[n];
  }
}

inline void find_ends(netlist& circuit) {
  for (net_id n = 0; n < circuit.nets.size(); ++n) {
    if (circuit.nets[n].is_output) circuit.ends.push_back({n, {nothing, 0}});
    for (auto const& s : circuit.sinks_of(n)) {
      auto const& kin = circuit.family_of(s.gate);
      if (kin.kind == cell_kind::flip_flop && !kin.is_clock(s.pin)) circuit.ends.push_back({n, s});
    }
  }
}

}  // namespace detail

/// Prepares a netlist of nets and gates for timing. Call it once; it renumbers the nets. Throws netlist_error with file
/// and line.
inline void link(netlist& circuit) {
  detail::add_input_ports(circuit);
  detail::find_drivers(circuit);
  detail::find_sinks(circuit);
  detail::reject_undriven(circuit);
  detail::find_order(circuit);
  detail::renumber_nets(circuit);
  detail::find_sinks(circuit);
  detail::find_ends(circuit);
}

}  // namespace timing
