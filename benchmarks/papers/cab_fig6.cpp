// CAB, Fig. 6 and 7: the gain of CAB for heat and SOR, by the size of the plate.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

/// The figures in the paper's text for the smallest and for the largest plate.
struct stated {
  char const* time_small;
  char const* time_large;
};

void show(request const& wanted, std::string const& name, heist::sim::program (*make)(opteron::shape const&),
          stated const& paper, std::vector<panel>& panels) {
  heading(name);
  table t{{"plate", "time, Cilk (ms)", "time, CAB (ms)", "time saved", "with memory", "paper", "L2 misses saved",
           "with memory", "paper", "L3 misses saved", "with memory", "paper"}};
  line_panel lines{
      name + ": saved by CAB",
      "rows",
      "%",
      true,
      {{"time", {}}, {"L2 misses", {}}, {"L3 misses", {}}, {"time, with memory", {}}, {"L3 misses, with memory", {}}}};
  std::vector<std::uint32_t> const sizes =
      wanted.quick ? std::vector<std::uint32_t>{128} : std::vector<std::uint32_t>{512, 1024, 2048, 3072, 4096};
  for (std::uint32_t const n : sizes) {
    auto const program = make({.rows = n, .columns = n, .leaf_rows = 8, .steps = wanted.quick ? 2u : 20u});
    auto const base = opteron::mean<opteron::cilk>(wanted, program);
    auto const cab = opteron::mean<opteron::literal_cab>(wanted, program);
    auto const s = opteron::saved_by(cab, base);
    auto const m = opteron::saved_by(opteron::mean<opteron::cab>(wanted, program), base);
    bool const small = n == 512, large = n == 4096;
    t.add({fmt::format("{0} x {0}", n), fmt::format("{:.2f}", 1e-6 * base.time), fmt::format("{:.2f}", 1e-6 * cab.time),
           percent(s.time), percent(m.time),
           small   ? paper.time_small
           : large ? paper.time_large
                   : "",
           percent(s.l2), percent(m.l2),
           small   ? "43.1 %"
           : large ? "2.1 %"
                   : "",
           percent(s.l3), percent(m.l3),
           small   ? "68.2 %"
           : large ? "4 %"
                   : ""});
    lines.lines[0].points.emplace_back(n, 100 * s.time);
    lines.lines[1].points.emplace_back(n, 100 * s.l2);
    lines.lines[2].points.emplace_back(n, 100 * s.l3);
    lines.lines[3].points.emplace_back(n, 100 * m.time);
    lines.lines[4].points.emplace_back(n, 100 * m.l3);
  }
  print(t);
  panels.emplace_back(lines);
}

}  // namespace

void cab_fig6(request const& wanted) {
  fmt::print(
      "CAB, Fig. 6 and 7: leaves of 8 rows, BL of Eq. 4; means of {} seeds. The paper's misses are of both programs.\n",
      wanted.rounds);
  std::vector<panel> panels;
  show(wanted, "heat", opteron::heat, {"54.6 %", "14 %"}, panels);
  show(wanted, "SOR", opteron::sor, {"68.7 %", "13.6 %"}, panels);
  write_plot(wanted, "CAB and the size of the plate (CAB, Fig. 6 and 7)", panels);
}

}  // namespace papers
