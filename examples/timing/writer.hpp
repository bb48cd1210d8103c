// Writes a netlist as structural Verilog that reader.hpp reads back to the same circuit.
#pragma once

#include "netlist.hpp"

#include <fmt/format.h>

#include <iterator>  // back_inserter
#include <string>

namespace timing {
namespace detail {

/// `name` as a Verilog identifier: unchanged, or escaped with a backslash and a blank.
inline std::string verilog_name(std::string const& name) {
  auto const is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool is_plain = !name.empty() && is_letter(name.front());
  for (char const c : name) is_plain = is_plain && (is_letter(c) || (c >= '0' && c <= '9') || c == '$');
  for (auto const word : {"module", "endmodule", "input", "output", "inout", "wire", "assign"}) {
    is_plain = is_plain && name != word;
  }
  return is_plain ? name : "\\" + name + " ";
}

inline void write_gate(netlist const& circuit, gate const& g, std::string& text) {
  auto const& kin = library().family_of(g.cell);
  auto const name_of = [&](std::size_t pin) {
    return verilog_name(circuit.nets[circuit.pinned[g.first_pin + pin]].name);
  };
  auto out = std::back_inserter(text);
  if (g.cell == library().assignment()) {
    fmt::format_to(out, "assign {} = {};\n", name_of(1), name_of(0));
    return;
  }
  fmt::format_to(out, "{} {} (", library()[g.cell].name, verilog_name(g.name));
  char const* separator = " ";
  for (std::size_t pin = 0; pin < kin.pinned.size(); ++pin) {
    if (circuit.pinned[g.first_pin + pin] == nothing) continue;
    fmt::format_to(out, "{}.{}({})", separator, kin.pinned[pin], name_of(pin));
    separator = ", ";
  }
  text += " );\n";
}

}  // namespace detail

/// The circuit as a Verilog module. Loads that are no part of the netlist (`extra_load`) are not written.
inline std::string to_verilog(netlist const& circuit) {
  std::string text = "module " + detail::verilog_name(circuit.name) + " (";
  char const* separator = "\n";
  for (auto const n : circuit.ports) {
    text += separator + detail::verilog_name(circuit.nets[n].name);
    separator = ",\n";
  }
  text += ");\n\n";
  for (auto const n : circuit.ports) {
    auto const& port = circuit.nets[n];
    text += (port.is_input ? "input " : "output ") + detail::verilog_name(port.name) + ";\n";
  }
  text += '\n';
  for (auto const& n : circuit.nets) {
    if (!n.is_input && !n.is_output) text += "wire " + detail::verilog_name(n.name) + ";\n";
  }
  text += '\n';
  for (std::size_t g = 0; g < circuit.cell_count; ++g) detail::write_gate(circuit, circuit.gates[g], text);
  text += "\nendmodule\n";
  return text;
}

}  // namespace timing
