// Arrival and required times of all nets, and the work of one gate in either direction. Times are whole femtoseconds,
// so the result does not depend on the order of computation.
#pragma once

#include "corners.hpp"
#include "netlist.hpp"

#include <algorithm>  // any_of, max, min
#include <array>
#include <vector>

namespace timing {

/// The two bounds of each net: the earliest time of a change of its signal, and the latest time at which it is settled.
inline constexpr std::size_t early = 0;
inline constexpr std::size_t late = 1;

/// The late required time of a net that leads to no end point. The early one has the opposite sign.
inline constexpr femtoseconds unconstrained = femtoseconds{1} << 60;

template <class T>
using per_corner = std::array<std::array<std::array<T, most_corners>, 2>, 2>;  // [early or late][edge][corner]

/// The arrival times of a net, its slews and its load. The forward task of the gate that drives the net writes them.
/// They have their own cache lines.
struct alignas(64) arrival_record {
  per_corner<femtoseconds> time{};
  per_corner<std::int32_t> slew{};
  std::int64_t load = 0;  // attofarads
  load_place place;       // the load on the axis of the driver's tables

  bool operator==(arrival_record const& other) const noexcept {
    return time == other.time && slew == other.slew && load == other.load;
  }
};

/// The required times of a net. The backward task of the gate that drives the net writes them.
struct alignas(64) required_record {
  per_corner<femtoseconds> time{};

  bool operator==(required_record const&) const = default;
};

/// The parts of an arrival_record that have changed.
struct movement {
  bool time = false;
  bool slew = false;
};

/// Times of one netlist. Tasks of different gates may work at the same time: a gate writes only the nets it drives.
class times {
 public:
  times(netlist const& circuit, std::size_t corner_count)
      : circuit_{&circuit},
        library_{&library()},
        corner_count_{corner_count},
        arrivals_(circuit.nets.size()),
        requireds_(circuit.nets.size()) {
    for (auto& r : requireds_) relax(r);
  }

  std::size_t corner_count() const noexcept { return corner_count_; }
  femtoseconds period() const noexcept { return period_; }
  void period(femtoseconds p) noexcept { period_ = p; }

  std::int64_t load(net_id n) const noexcept { return arrivals_[n].load; }
  femtoseconds arrival(net_id n, std::size_t bound, std::size_t edge, std::size_t c) const noexcept {
    return arrivals_[n].time[bound][edge][c];
  }
  std::int32_t slew(net_id n, std::size_t bound, std::size_t edge, std::size_t c) const noexcept {
    return arrivals_[n].slew[bound][edge][c];
  }
  femtoseconds required(net_id n, std::size_t bound, std::size_t edge, std::size_t c) const noexcept {
    return requireds_[n].time[bound][edge][c];
  }

  /// The slack at the worst edge and corner; `unconstrained` if no path through the net is checked. Late: how much
  /// earlier than required the signal is settled. Early: how much longer than required the old value stays.
  femtoseconds slack(net_id n, std::size_t bound = late) const noexcept {
    auto worst = unconstrained;
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < corner_count_; ++c) {
        auto const asked = required(n, bound, edge, c);
        if (asked == unconstrained || asked == -unconstrained) continue;
        auto const left = asked - arrival(n, bound, edge, c);
        worst = std::min(worst, bound == late ? left : -left);
      }
    }
    return worst;
  }

  /// The delay from edge `from` at input pin `pin` of gate g to edge `to` at its output net n.
  femtoseconds delay(gate_id g, std::size_t pin, net_id n, std::size_t bound, std::size_t from, std::size_t to,
                     std::size_t c) const noexcept {
    auto const& tables = library_->arc((*library_)[circuit_->gates[g].cell], pin);
    auto const slope = slew(circuit_->inputs(g)[pin], bound, from, c);
    return find_delay(tables[to][c], find_slew(slope), arrivals_[n].place);
  }

  /// Sums the capacitances that the driver of net n has to charge.
  void update_load(net_id n) noexcept {
    auto const& wire = circuit_->nets[n];
    auto sum = wire.extra_load + (wire.is_output ? port_capacitance : 0);
    for (auto const& s : circuit_->sinks_of(n)) {
      sum += wire_capacitance + (*library_)[circuit_->gates[s.gate].cell].capacitance;
    }
    arrivals_[n].load = sum;
  }

  void update_loads(gate_id g) noexcept {
    for (auto const n : circuit_->outputs(g)) {
      if (n != nothing) update_load(n);
    }
  }

  /// Computes arrival times and slews at the outputs of gate g from those at its inputs. Needs the loads of its
  /// outputs.
  movement update_arrivals(gate_id g) noexcept {
    auto const& kin = circuit_->family_of(g);
    auto const& cell = (*library_)[circuit_->gates[g].cell];
    auto const inputs = circuit_->inputs(g);
    auto const outputs = circuit_->outputs(g);
    movement moved;
    for (std::size_t out = 0; out < outputs.size(); ++out) {
      if (outputs[out] == nothing) continue;
      auto& target = arrivals_[outputs[out]];
      target.place = find_load(target.load, cell.size);
      arrival_record made;
      if (kin.is_combinational() && !inputs.empty()) {
        clear(made);
        for (std::size_t pin = 0; pin < inputs.size(); ++pin) {
          propagate(made, arrivals_[inputs[pin]], library_->arc(cell, pin), target.place, kin.senses[out][pin]);
        }
      } else {
        start(made, kin.kind == cell_kind::flip_flop ? &library_->arc(cell, 0) : nullptr, target.place);
      }
      moved.time |= made.time != target.time;
      moved.slew |= made.slew != target.slew;
      target.time = made.time;
      target.slew = made.slew;
    }
    return moved;
  }

  /// Computes required times at the outputs of gate g from the gates that it drives. Returns true if they have changed.
  /// Needs the arrival times at its outputs, and the loads of the gates that it drives.
  bool update_requireds(gate_id g) noexcept {
    bool moved = false;
    for (auto const n : circuit_->outputs(g)) {
      if (n == nothing) continue;
      required_record made;
      relax(made);
      if (circuit_->nets[n].is_output) require(made, period_, 0);
      for (auto const& s : circuit_->sinks_of(n)) require(made, arrivals_[n], s);
      moved |= made != requireds_[n];
      requireds_[n] = made;
    }
    return moved;
  }

  /// How long a flip-flop's pin must be settled before the clock edge, and stay after it, at corner c.
  static femtoseconds setup(family const& kin, std::size_t edge, std::size_t c) noexcept {
    return (kin.setup * corners[c].edge[edge]) >> 10;
  }
  static femtoseconds hold(family const& kin, std::size_t edge, std::size_t c) noexcept {
    return (kin.hold * corners[c].edge[edge]) >> 10;
  }

  friend bool operator==(times const& a, times const& b) noexcept {
    return a.period_ == b.period_ && a.arrivals_ == b.arrivals_ && a.requireds_ == b.requireds_;
  }

 private:
  void clear(arrival_record& r) const noexcept {
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < corner_count_; ++c) {
        r.time[early][edge][c] = unconstrained;
        r.time[late][edge][c] = -unconstrained;
        r.slew[early][edge][c] = most_slew;
        r.slew[late][edge][c] = least_slew;
      }
    }
  }

  void relax(required_record& r) const noexcept {
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < corner_count_; ++c) {
        r.time[early][edge][c] = -unconstrained;
        r.time[late][edge][c] = unconstrained;
      }
    }
  }

  /// Starts a path at time 0, or at a flip-flop's clock if its tables are given.
  void start(arrival_record& target, arc_tables const* clock, load_place const& place) const noexcept {
    auto const slope = find_slew(start_slew);
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < corner_count_; ++c) {
        for (std::size_t bound : {early, late}) {
          target.time[bound][edge][c] = clock == nullptr ? 0 : find_delay((*clock)[edge][c], slope, place);
          target.slew[bound][edge][c] =
              clock == nullptr ? start_slew : find_output_slew((*clock)[edge][c], slope, place);
        }
      }
    }
  }

  void propagate(arrival_record& target, arrival_record const& source, arc_tables const& arc, load_place const& place,
                 sense way) const noexcept {
    for (std::size_t to : {rise, fall}) {
      if (way != sense::negative) propagate_edge(target, source, arc, place, to, to);
      if (way != sense::positive) propagate_edge(target, source, arc, place, 1 - to, to);
    }
  }

  void propagate_edge(arrival_record& target, arrival_record const& source, arc_tables const& arc,
                      load_place const& place, std::size_t from, std::size_t to) const noexcept {
    for (std::size_t c = 0; c < corner_count_; ++c) {
      auto const& table = arc[to][c];
      auto const soft = find_slew(source.slew[late][from][c]);
      auto const last = source.time[late][from][c] + find_delay(table, soft, place);
      target.time[late][to][c] = std::max(target.time[late][to][c], last);
      target.slew[late][to][c] = std::max(target.slew[late][to][c], find_output_slew(table, soft, place));
      auto const sharp = find_slew(source.slew[early][from][c]);
      auto const first = source.time[early][from][c] + find_delay(table, sharp, place);
      target.time[early][to][c] = std::min(target.time[early][to][c], first);
      target.slew[early][to][c] = std::min(target.slew[early][to][c], find_output_slew(table, sharp, place));
    }
  }

  /// The signal must not settle after `last` or change before `first`.
  static void require(required_record& target, std::size_t edge, std::size_t c, femtoseconds last,
                      femtoseconds first) noexcept {
    target.time[late][edge][c] = std::min(target.time[late][edge][c], last);
    target.time[early][edge][c] = std::max(target.time[early][edge][c], first);
  }

  void require(required_record& target, femtoseconds last, femtoseconds first) const noexcept {
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < corner_count_; ++c) require(target, edge, c, last, first);
    }
  }

  /// Adds the requirements of pin `s` to the net whose arrival is `source`.
  void require(required_record& target, arrival_record const& source, sink const& s) const noexcept {
    auto const& kin = circuit_->family_of(s.gate);
    if (kin.kind == cell_kind::flip_flop) {
      if (!kin.is_clock(s.pin)) require_check(target, kin);
      return;
    }
    auto const& arc = library_->arc((*library_)[circuit_->gates[s.gate].cell], s.pin);
    auto const outputs = circuit_->outputs(s.gate);
    for (std::size_t out = 0; out < outputs.size(); ++out) {
      if (outputs[out] == nothing) continue;
      auto const way = kin.senses[out][s.pin];
      auto const& asked = requireds_[outputs[out]];
      auto const& place = arrivals_[outputs[out]].place;
      for (std::size_t to : {rise, fall}) {
        if (way != sense::negative) require_edge(target, source, asked, arc, place, to, to);
        if (way != sense::positive) require_edge(target, source, asked, arc, place, 1 - to, to);
      }
    }
  }

  void require_check(required_record& target, family const& kin) const noexcept {
    for (std::size_t edge : {rise, fall}) {
      for (std::size_t c = 0; c < corner_count_; ++c) {
        require(target, edge, c, period_ - setup(kin, edge, c), hold(kin, edge, c));
      }
    }
  }

  void require_edge(required_record& target, arrival_record const& source, required_record const& asked,
                    arc_tables const& arc, load_place const& place, std::size_t from, std::size_t to) const noexcept {
    for (std::size_t c = 0; c < corner_count_; ++c) {
      auto const last = asked.time[late][to][c];
      auto const first = asked.time[early][to][c];
      if (last == unconstrained) continue;  // the early one is, too: every end point sets both
      auto const soft = find_slew(source.slew[late][from][c]);
      auto const sharp = find_slew(source.slew[early][from][c]);
      require(target, from, c, last - find_delay(arc[to][c], soft, place),
              first - find_delay(arc[to][c], sharp, place));
    }
  }

  netlist const* circuit_;
  cell_library const* library_;
  std::size_t corner_count_;
  femtoseconds period_ = 0;
  std::vector<arrival_record> arrivals_;    // per net
  std::vector<required_record> requireds_;  // per net
};

}  // namespace timing
