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
  opteron::savings_by_size found{name, "plate", "Cilk", "CAB"};
  std::vector<std::uint32_t> const sizes =
      wanted.quick ? std::vector<std::uint32_t>{128} : std::vector<std::uint32_t>{512, 1024, 2048, 3072, 4096};
  for (std::uint32_t const n : sizes) {
    auto const program = make({.rows = n, .columns = n, .leaf_rows = 8, .steps = wanted.quick ? 2u : 20u});
    auto const c = opteron::compare<opteron::cab>(wanted, program);
    auto const stated = [n](char const* small, char const* large) {
      return std::string{n == 512 ? small : n == 4096 ? large : ""};
    };
    found.add(fmt::format("{0} x {0}", n), n, c,
              {stated(paper.time_small, paper.time_large), stated("43.1 %", "2.1 %"), stated("68.2 %", "4 %")});
  }
  found.print();
  panels.emplace_back(found.lines());
}

}  // namespace

void cab_fig6(request const& wanted) {
  fmt::print(
      "CAB, Fig. 6 and 7: leaves of 8 rows, BL of Eq. 4; means of {} seeds. The paper's misses are of both programs.\n"
      "Thieves spin, but in the column that says so.\n",
      wanted.rounds);
  std::vector<panel> panels;
  show(wanted, "heat", opteron::heat, {"54.6 %", "14 %"}, panels);
  show(wanted, "SOR", opteron::sor, {"68.7 %", "13.6 %"}, panels);
  write_plot(wanted, "CAB and the size of the plate (CAB, Fig. 6 and 7)", panels);
}

}  // namespace papers
