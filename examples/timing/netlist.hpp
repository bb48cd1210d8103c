// A circuit as its file describes it: nets, gates, and the net of each pin. `link()` in link.hpp completes it.
#pragma once

#include "cells.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace timing {

using net_id = std::uint32_t;
using gate_id = std::uint32_t;

inline constexpr std::uint32_t nothing = 0xFFFFFFFF;

struct net {
  std::string name;
  std::uint32_t line = 0;  // line of the declaration; 0: no file
  gate_id driver = nothing;
  bool is_input = false;
  bool is_output = false;
  std::int64_t extra_load = 0;  // attofarads, in addition to pins and wire
};

struct gate {
  std::string name;
  std::uint32_t line = 0;
  cell_id cell = 0;
  std::uint32_t first_pin = 0;  // the nets of its pins are pinned[first_pin...], in the family's order
};

/// An input pin that a net drives.
struct sink {
  gate_id gate;
  std::uint32_t pin;
};

/// A place where a signal must settle in time: an output port, or a pin of a flip-flop that is not its clock.
struct end_pin {
  net_id net;
  sink at;  // gate is `nothing` for an output port
};

/// Gates, nets and pins. After `link()` every used net has one driver. Input ports are then gates, too, and are last.
/// `order` lists each gate after the gates whose arrival times it needs. Threads may read it at the same time.
struct netlist {
  std::string name;
  std::string file;  // for messages
  std::vector<net> nets;
  std::vector<gate> gates;
  std::vector<net_id> pinned;             // `nothing` for an open pin
  std::vector<net_id> ports;              // in the order of the module's header
  std::size_t cell_count = 0;             // gates that are no input ports; they come first
  std::vector<gate_id> order;             // set by link()
  std::vector<std::uint32_t> first_sink;  // set by link(): the sinks of net n are sinks[first_sink[n]...[n + 1]]
  std::vector<sink> sinks;
  std::vector<end_pin> ends;         // set by link()
  std::vector<std::uint32_t> level;  // set by link(): per gate, above the levels of its fan-in

  net_id add_net(std::string net_name, std::uint32_t line = 0) {
    nets.push_back({std::move(net_name), line});
    return static_cast<net_id>(nets.size() - 1);
  }

  net_id add_port(std::string net_name, bool is_input) {
    auto const made = add_net(std::move(net_name));
    (is_input ? nets[made].is_input : nets[made].is_output) = true;
    ports.push_back(made);
    return made;
  }

  /// `ties` has one net (or `nothing`) per pin of the cell's family.
  gate_id add_gate(std::string gate_name, cell_id cell, std::span<net_id const> ties, std::uint32_t line = 0) {
    gates.push_back({std::move(gate_name), line, cell, static_cast<std::uint32_t>(pinned.size())});
    pinned.insert(pinned.end(), ties.begin(), ties.end());
    return static_cast<gate_id>(gates.size() - 1);
  }

  family const& family_of(gate_id g) const noexcept { return library().family_of(gates[g].cell); }

  std::span<net_id const> inputs(gate_id g) const noexcept {
    return {pinned.data() + gates[g].first_pin, family_of(g).input_count};
  }

  std::span<net_id const> outputs(gate_id g) const noexcept {
    auto const& kin = family_of(g);
    return {pinned.data() + gates[g].first_pin + kin.input_count, kin.output_count};
  }

  std::span<sink const> sinks_of(net_id n) const noexcept {
    return {sinks.data() + first_sink[n], first_sink[n + 1] - first_sink[n]};
  }

  /// Calls f(gate) for each gate whose arrival times gate g needs, once per pin.
  template <class F>
  void for_each_fan_in(gate_id g, F&& f) const {
    if (!family_of(g).is_combinational()) return;
    for (auto const n : inputs(g)) f(nets[n].driver);
  }

  /// Calls f(gate) for each gate that needs the arrival times of gate g, once per pin.
  template <class F>
  void for_each_fan_out(gate_id g, F&& f) const {
    for (auto const n : outputs(g)) {
      if (n == nothing) continue;
      for (auto const& s : sinks_of(n)) {
        if (family_of(s.gate).is_combinational()) f(s.gate);
      }
    }
  }
};

}  // namespace timing
