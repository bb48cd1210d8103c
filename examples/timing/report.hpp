// The result in words: the circuit, its worst slack, and the critical path gate by gate.
#pragma once

#include "critical_path.hpp"
#include "error.hpp"

#include <fmt/format.h>

#include <iterator>  // back_inserter
#include <string>

namespace timing {

inline double to_ps(femtoseconds t) {
  return static_cast<double>(t) / 1000;
}

inline std::string to_text(netlist const& circuit) {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  std::size_t flip_flops = 0;
  for (auto const& n : circuit.nets) {
    inputs += n.is_input ? 1 : 0;
    outputs += n.is_output ? 1 : 0;
  }
  for (gate_id g = 0; g < circuit.cell_count; ++g) {
    flip_flops += circuit.family_of(g).kind == cell_kind::flip_flop ? 1 : 0;
  }
  return fmt::format("{}: {} gates, of which {} flip-flops; {} nets, {} inputs, {} outputs", printable(circuit.name),
                     circuit.cell_count, flip_flops, circuit.nets.size(), inputs, outputs);
}

namespace detail {

inline char const* edge_name(std::size_t edge) {
  return edge == rise ? "rise" : "fall";
}

inline void add_step(netlist const& circuit, times const& t, end_point const& end, path_step const& s,
                     std::string& text) {
  auto const& kin = circuit.family_of(s.gate);
  auto const& cell = library()[circuit.gates[s.gate].cell];
  auto const through = kin.is_combinational() && kin.input_count != 0 ? " through " + kin.pinned[s.pin] : std::string{};
  fmt::format_to(std::back_inserter(text), "  {:10.1f}  {:8.1f}  {:4}  {:7.1f}  {:7.2f}  {:<11} {}{} -> {}\n",
                 to_ps(s.arrival), to_ps(s.delay), edge_name(s.edge),
                 to_ps(t.slew(s.net, end.bound, s.edge, end.corner)), static_cast<double>(t.load(s.net)) / 1000,
                 kin.is_hidden ? kin.name : cell.name, printable(circuit.gates[s.gate].name), through,
                 printable(circuit.nets[s.net].name));
}

}  // namespace detail

/// The name of an end point: a port, or gate and pin.
inline std::string name_of(netlist const& circuit, end_point const& end) {
  if (end.at.gate == nothing) return "output " + printable(circuit.nets[end.net].name);
  auto const& g = circuit.gates[end.at.gate];
  return fmt::format("pin {} of flip-flop {}", library().family_of(g.cell).pinned[end.at.pin], printable(g.name));
}

/// One paragraph on the worst slack, and the path as a table; long paths are cut in the middle unless `is_full`.
inline std::string text_of_path(netlist const& circuit, times const& t, bool is_full) {
  constexpr std::size_t visible_at_each_end = 8;
  auto const end = worst_end_point(circuit, t);
  if (end.net == nothing) return "The circuit has no end points: neither outputs nor flip-flops. Nothing to check.\n";
  auto const path = path_to(circuit, t, end);
  auto text =
      fmt::format("worst slack  {:.1f} ps at {} ({}, corner \"{}\"), period {:.1f} ps\n", to_ps(end.slack),
                  name_of(circuit, end), detail::edge_name(end.edge), corners[end.corner].name, to_ps(t.period()));
  text += fmt::format("critical path, {} steps:\n  {:>10}  {:>8}  {:4}  {:>7}  {:>7}  {:<11} {}\n", path.size(),
                      "arrival/ps", "delay/ps", "edge", "slew/ps", "load/fF", "cell", "gate -> net");
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!is_full && i == visible_at_each_end && path.size() > 2 * visible_at_each_end + 1) {
      auto const skipped = path.size() - 2 * visible_at_each_end;
      text += fmt::format("         ... {} more (--full-path shows them) ...\n", skipped);
      i += skipped;
    }
    detail::add_step(circuit, t, end, path[i], text);
  }
  auto const setup = setup_at(circuit, end.at, end.edge, end.corner);
  if (setup != 0) text += fmt::format("  set-up time of the flip-flop: {:.1f} ps before the clock\n", to_ps(setup));
  auto const first = worst_end_point(circuit, t, early);
  text += fmt::format("hold slack   {:.1f} ps at {} ({}, corner \"{}\")\n", to_ps(first.slack), name_of(circuit, first),
                      detail::edge_name(first.edge), corners[first.corner].name);
  return text;
}

}  // namespace timing
