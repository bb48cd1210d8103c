// Static timing once more, in the plainest way: each time is computed from its definition by recursion over the
// netlist. Shares the tables with the example, and nothing else: neither its senses, loads, orders, interpolation nor
// loops.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "examples/timing/end_points.hpp"
#include "examples/timing/netlist.hpp"

namespace timing_test {

class oracle {
 public:
  oracle(timing::netlist const& circuit, std::size_t bound, std::size_t corner, std::int64_t period)
      : circuit_{circuit}, is_late_{bound == timing::late}, corner_{corner}, period_{period} {
    readers_.resize(circuit.nets.size());
    drivers_.resize(circuit.nets.size());
    for (timing::gate_id g = 0; g < circuit.gates.size(); ++g) {
      auto const& kin = timing::library().family_of(circuit.gates[g].cell);
      for (std::size_t pin = 0; pin < kin.pinned.size(); ++pin) {
        auto const n = circuit.pinned[circuit.gates[g].first_pin + pin];
        if (n == timing::nothing) continue;
        if (pin < kin.input_count) {
          readers_[n].push_back({g, pin});
        } else {
          drivers_[n] = {g, pin - kin.input_count};
        }
      }
    }
    arrivals_.resize(2 * circuit.nets.size());
    requireds_.resize(2 * circuit.nets.size());
  }

  std::int64_t load(std::uint32_t n) const {
    auto const& wire = circuit_.nets[n];
    std::int64_t sum = wire.extra_load;
    if (wire.is_output) sum += timing::port_capacitance;
    for (auto const& [g, pin] : readers_[n]) {
      sum += timing::library()[circuit_.gates[g].cell].capacitance + timing::wire_capacitance;
    }
    return sum;
  }

  struct event {
    std::int64_t time;
    std::int64_t slew;
  };

  event arrival(std::uint32_t n, std::size_t edge) {
    auto& memory = arrivals_[2 * n + edge];
    if (memory) return *memory;
    auto const [g, out] = drivers_[n];
    auto const& kin = timing::library().family_of(circuit_.gates[g].cell);
    if (kin.kind == timing::cell_kind::source) {
      memory = event{0, timing::start_slew};
    } else if (kin.kind == timing::cell_kind::flip_flop) {
      memory = through(g, 0, n, edge, {0, timing::start_slew});
    } else {
      for (std::size_t pin = 0; pin < kin.input_count; ++pin) {
        for (std::size_t from : {timing::rise, timing::fall}) {
          if (!can_cause(kin, out, pin, from, edge)) continue;
          auto const source = circuit_.pinned[circuit_.gates[g].first_pin + pin];
          auto const found = through(g, pin, n, edge, arrival(source, from));
          auto const before = arrivals_[2 * n + edge].value_or(found);
          arrivals_[2 * n + edge] = event{pick(before.time, found.time), pick(before.slew, found.slew)};
        }
      }
    }
    return memory.value();
  }

  /// No value: no end point follows.
  std::optional<std::int64_t> required(std::uint32_t n, std::size_t edge) {
    auto& memory = requireds_[2 * n + edge];
    if (memory.is_known) return memory.value;
    std::optional<std::int64_t> tightest;
    auto const take = [&](std::int64_t t) { tightest = -pick(-tightest.value_or(t), -t); };
    if (circuit_.nets[n].is_output) take(is_late_ ? period_ : 0);
    for (auto const& [g, pin] : readers_[n]) {
      auto const& kin = timing::library().family_of(circuit_.gates[g].cell);
      if (kin.kind == timing::cell_kind::flip_flop) {
        if (kin.pinned[pin] == "CK") continue;
        take(is_late_ ? period_ - scaled(kin.setup, edge) : scaled(kin.hold, edge));
        continue;
      }
      for (std::size_t out = 0; out < kin.output_count; ++out) {
        auto const target = circuit_.pinned[circuit_.gates[g].first_pin + kin.input_count + out];
        if (target == timing::nothing) continue;
        for (std::size_t to : {timing::rise, timing::fall}) {
          if (!can_cause(kin, out, pin, edge, to)) continue;
          auto const later = required(target, to);
          if (later) take(*later - through(g, pin, target, to, {0, arrival(n, edge).slew}).time);
        }
      }
    }
    memory = {true, tightest};
    return tightest;
  }

  /// The shortest period that every end point is content with, whatever the period of this oracle.
  std::int64_t shortest_period() {
    std::int64_t longest = 0;
    for (std::uint32_t n = 0; n < circuit_.nets.size(); ++n) {
      for (std::size_t edge : {timing::rise, timing::fall}) {
        if (circuit_.nets[n].is_output) longest = std::max(longest, arrival(n, edge).time);
        for (auto const& [g, pin] : readers_[n]) {
          auto const& kin = timing::library().family_of(circuit_.gates[g].cell);
          if (kin.kind != timing::cell_kind::flip_flop || kin.pinned[pin] == "CK") continue;
          longest = std::max(longest, arrival(n, edge).time + scaled(kin.setup, edge));
        }
      }
    }
    return longest;
  }

 private:
  /// Is there a state of the other inputs in which this edge of `pin` makes that edge of output `out`?
  static bool can_cause(timing::family const& kin, std::size_t out, std::size_t pin, std::size_t from, std::size_t to) {
    for (std::size_t state = 0; state < (std::size_t{1} << kin.input_count); ++state) {
      if ((state >> pin & 1) != 0) continue;
      bool const low = (kin.functions[out] >> state & 1) != 0;
      bool const high = (kin.functions[out] >> (state | std::size_t{1} << pin) & 1) != 0;
      bool const before = from == timing::rise ? low : high;
      bool const after = from == timing::rise ? high : low;
      if (before != after && after == (to == timing::rise)) return true;
    }
    return false;
  }

  /// The later or the earlier, as this oracle asks.
  std::int64_t pick(std::int64_t a, std::int64_t b) const { return is_late_ ? std::max(a, b) : std::min(a, b); }

  std::int64_t scaled(std::int64_t time, std::size_t edge) const {
    return floor_divide(time * timing::corners[corner_].edge[edge], 1024);
  }

  static std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }

  /// The left end of the interval of an axis that doubles from `first` seven times in all.
  static std::size_t interval(std::int64_t x, std::int64_t first) {
    std::size_t point = 5;
    while (point > 0 && x < first * (std::int64_t{1} << point)) --point;
    return point;
  }

  static std::int64_t interpolate(std::int64_t a, std::int64_t b, std::int64_t x, std::int64_t left) {
    return a + floor_divide((b - a) * floor_divide((x - left) * 65536, left), 65536);
  }

  /// The event at the output net n of gate g when `in` arrives at its pin.
  event through(std::uint32_t g, std::size_t pin, std::uint32_t n, std::size_t edge, event const& in) const {
    auto const& cell = timing::library()[circuit_.gates[g].cell];
    auto const& table = timing::library().arc(cell, pin)[edge][corner_];
    std::int64_t const first_load = 512 * cell.size;
    auto const row = interval(in.slew, 4096);
    auto const column = interval(load(n), first_load);
    auto const read = [&](std::int32_t timing::table_point::*what) {
      auto const along_load = [&](std::size_t r) {
        return interpolate(table[r][column].*what, table[r][column + 1].*what, load(n), first_load << column);
      };
      return interpolate(along_load(row), along_load(row + 1), in.slew, std::int64_t{4096} << row);
    };
    return {in.time + read(&timing::table_point::delay),
            std::clamp<std::int64_t>(read(&timing::table_point::slew), 4096, 4096 * 64)};
  }

  struct known_required {
    bool is_known = false;
    std::optional<std::int64_t> value;
  };

  timing::netlist const& circuit_;
  bool is_late_;
  std::size_t corner_;
  std::int64_t period_;
  std::vector<std::vector<std::pair<std::uint32_t, std::size_t>>> readers_;
  std::vector<std::pair<std::uint32_t, std::size_t>> drivers_;
  std::vector<std::optional<event>> arrivals_;
  std::vector<known_required> requireds_;
};

/// Number of loads, times and slews of `t` that differ from the oracle's, for one of early and late.
inline std::size_t differences(timing::netlist const& circuit, timing::times const& t, std::size_t bound) {
  std::size_t count = 0;
  std::vector<std::int64_t> slacks(circuit.nets.size(), timing::unconstrained);
  for (std::size_t c = 0; c < t.corner_count(); ++c) {
    oracle truth{circuit, bound, c, t.period()};
    for (std::uint32_t n = 0; n < circuit.nets.size(); ++n) {
      if (circuit.nets[n].driver == timing::nothing) continue;  // declared but never used
      count += truth.load(n) != t.load(n) ? 1 : 0;
      for (std::size_t edge : {timing::rise, timing::fall}) {
        auto const arrival = truth.arrival(n, edge);
        auto const required = truth.required(n, edge);
        auto const never = bound == timing::late ? timing::unconstrained : -timing::unconstrained;
        count += arrival.time != t.arrival(n, bound, edge, c) ? 1 : 0;
        count += arrival.slew != t.slew(n, bound, edge, c) ? 1 : 0;
        count += required.value_or(never) != t.required(n, bound, edge, c) ? 1 : 0;
        if (!required) continue;
        auto const left = *required - arrival.time;
        slacks[n] = std::min(slacks[n], bound == timing::late ? left : -left);
      }
    }
  }
  for (std::uint32_t n = 0; n < circuit.nets.size(); ++n) {
    if (circuit.nets[n].driver != timing::nothing) count += slacks[n] != t.slack(n, bound) ? 1 : 0;
  }
  return count;
}

inline std::size_t differences(timing::netlist const& circuit, timing::times const& t) {
  return differences(circuit, t, timing::early) + differences(circuit, t, timing::late);
}

inline std::int64_t shortest_period(timing::netlist const& circuit, std::size_t corner_count) {
  std::int64_t longest = 0;
  for (std::size_t c = 0; c < corner_count; ++c) {
    longest = std::max(longest, oracle{circuit, timing::late, c, 0}.shortest_period());
  }
  return longest;
}

}  // namespace timing_test
