// Random changes to a circuit, as a sizing tool makes them: a gate gets another size, a net another load.
#pragma once

#include "netlist.hpp"

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace timing {

enum class change_kind : std::uint8_t { resize, reload };

struct change {
  change_kind kind = change_kind::resize;
  gate_id gate = nothing;       // resize: this gate
  cell_id cell = 0;             //         becomes this cell
  net_id net = nothing;         // reload: this net
  std::int64_t extra_load = 0;  //         has this load besides its pins
};

/// An endless sequence of changes. It depends on the circuit and the seed, but not on the machine.
class change_source {
 public:
  change_source(netlist const& circuit, std::uint64_t seed) : circuit_{&circuit}, random_{seed} {}

  /// A circuit without gates gets only changes of load. A circuit without nets cannot be changed.
  change next() {
    change made;
    auto const gates = circuit_->cell_count;
    if (gates != 0 && below(2) == 0) {
      for (int attempt = 0; attempt < 8; ++attempt) {
        auto const g = static_cast<gate_id>(below(gates));
        auto const& sizes = circuit_->family_of(g).sizes;
        if (sizes.size() < 2) continue;
        made.gate = g;
        auto const old = circuit_->gates[g].cell;
        auto const pick = below(sizes.size() - 1);
        made.cell = sizes[pick] == old ? sizes.back() : sizes[pick];
        return made;
      }
    }
    made.kind = change_kind::reload;
    made.net = static_cast<net_id>(below(circuit_->nets.size()));
    made.extra_load = static_cast<std::int64_t>(below(largest_extra_load + 1));
    return made;
  }

 private:
  static constexpr std::uint64_t largest_extra_load = 8000;  // attofarads: about five more fan-out pins

  // std::uniform_int_distribution differs between standard libraries; the slight unevenness does not matter here.
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

  netlist const* circuit_;
  std::mt19937_64 random_;
};

inline void apply(netlist& circuit, change const& c) {
  if (c.kind == change_kind::resize) {
    circuit.gates[c.gate].cell = c.cell;
  } else {
    circuit.nets[c.net].extra_load = c.extra_load;
  }
}

}  // namespace timing
