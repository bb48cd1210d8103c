// The savings of CAB for several costs of a line from memory. The papers do not state this cost.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

struct program {
  std::string name;
  heist::sim::program tasks;
};

std::vector<program> programs(request const& wanted) {
  std::uint32_t const n = wanted.quick ? 128 : 1024;
  opteron::shape const plate{.rows = n, .columns = n, .leaf_rows = 8, .steps = wanted.quick ? 2u : 20u};
  return {{"GE", opteron::ge(plate)}, {"Heat", opteron::heat(plate)}, {"SOR", opteron::sor(plate)}};
}

/// Adds a row of the table and a line of the plot: the savings of Policy.
template <class Policy>
void add_row(request const& wanted, std::string const& name, heist::sim::program const& p,
             std::vector<std::uint32_t> const& costs, table& t, line_panel& lines) {
  std::vector<std::string> cells{name};
  line of_plot{name, {}};
  for (auto const ns : costs) {
    heist::sim::costs machine = opteron::costs();
    machine.memory = ns;
    double const base = opteron::mean<opteron::spinning<opteron::cilk>>(wanted, p, {.of_machine = machine}).time;
    double const share = saved(base, opteron::mean<opteron::spinning<Policy>>(wanted, p, {.of_machine = machine}).time);
    cells.push_back(percent(share));
    of_plot.points.emplace_back(ns, 100 * share);
  }
  t.add(cells);
  lines.lines.push_back(of_plot);
}

}  // namespace

void line_cost(request const& wanted) {
  fmt::print(
      "Time that CAB saves of Cilk's, 1024 x 1024 elements, for several costs of a line from memory (elsewhere 90 "
      "ns);\n"
      "as published and with the region's memory of squads; thieves spin; means of {} seeds\n\n",
      wanted.rounds);
  std::vector<std::uint32_t> const costs =
      wanted.quick ? std::vector<std::uint32_t>{14, 90} : std::vector<std::uint32_t>{14, 30, 50, 70, 90, 120};
  std::vector<std::string> heads{"program"};
  for (auto const ns : costs) heads.push_back(fmt::format("{} ns", ns));
  table t{heads};
  line_panel lines{"time saved", "ns for a line", "%", false, {}};
  for (auto const& p : programs(wanted)) {
    add_row<opteron::published<opteron::cab>>(wanted, p.name + ", CAB", p.tasks, costs, t, lines);
    add_row<opteron::cab>(wanted, p.name + ", with memory", p.tasks, costs, t, lines);
  }
  print(t);
  write_plot(wanted, "What CAB saves, and the cost of a line from memory", {lines});
}

}  // namespace papers
