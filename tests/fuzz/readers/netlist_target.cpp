// Netlists: read, written, read again, and cut.
#include "all_targets.hpp"
#include "examples/timing/reader.hpp"
#include "examples/timing/writer.hpp"

namespace fuzz {
namespace {

using timing::netlist;
using timing::netlist_error;

bool same_gates(netlist const& a, netlist const& b) {
  if (a.gates.size() != b.gates.size()) return false;
  for (std::size_t g = 0; g < a.gates.size(); ++g)
    if (a.gates[g].name != b.gates[g].name || a.gates[g].cell != b.gates[g].cell ||
        a.gates[g].first_pin != b.gates[g].first_pin)
      return false;
  return true;
}
bool same_nets(netlist const& a, netlist const& b) {
  if (a.nets.size() != b.nets.size()) return false;
  for (std::size_t n = 0; n < a.nets.size(); ++n)
    if (a.nets[n].name != b.nets[n].name || a.nets[n].driver != b.nets[n].driver ||
        a.nets[n].is_input != b.nets[n].is_input || a.nets[n].is_output != b.nets[n].is_output)
      return false;
  return true;
}

/// The promises of link().
void require_linked(netlist const& c) {
  require(c.order.size() == c.gates.size() && c.first_sink.size() == c.nets.size() + 1, "a netlist is not whole");
  std::vector<bool> done(c.gates.size());
  for (auto const g : c.order) {
    require(!done[g], "a gate is in the order twice");
    done[g] = true;
    c.for_each_fan_in(g, [&](timing::gate_id driver) {
      require(done[driver] && c.level[driver] < c.level[g], "a gate comes before one that drives it");
    });
  }
  for (timing::net_id n = 0; n < c.nets.size(); ++n) {
    bool const used = c.nets[n].is_output || !c.sinks_of(n).empty();
    require(!used || c.nets[n].driver != timing::nothing, "a net that is used has no driver");
    for (auto const& s : c.sinks_of(n)) require(c.inputs(s.gate)[s.pin] == n, "a net ends at a pin of another");
  }
}

outcome run(std::string_view input) {
  static auto const& cells = timing::library();  // made before memory is counted
  static_cast<void>(cells);
  auto const read = [](std::string_view text) { return timing::read_verilog("f.v", text); };
  auto const c = attempt<netlist_error>(input.size(), {16384, 400}, [&] { return read(input); });
  if (!c) return {};
  require_linked(*c);
  auto const text = timing::to_verilog(*c);
  auto const again = read(text);
  require(again.name == c->name && same_nets(*c, again) && same_gates(*c, again) && c->pinned == again.pinned &&
              c->ports == again.ports && c->order == again.order && c->cell_count == again.cell_count,
          "the circuit changes when written and read");
  require(timing::to_verilog(again) == text, "the circuit is written in another way the second time");
  auto const last = input.substr(0, input.find("endmodule") + 8);
  require(rejects_call<netlist_error>([&] { return read(last.substr(0, digest(input) % (last.size() + 1))); }),
          "a cut file is accepted");
  return {true, 1};
}

}  // namespace

target const netlist_target{"netlist", 4096, 8000, true, run};

}  // namespace fuzz
