// CATS, Fig. 9 to 12: heat and SOR, balanced and unbalanced, 1024 to 8192 rows of 512 columns.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

/// The figures in the paper's text for 1024 and for 8192 rows.
struct stated {
  char const *time[2], *l2[2], *l3[2];
};

struct curve {
  std::string name;
  heist::sim::program (*make)(opteron::shape const&);
  stated paper;
};

void show(request const& wanted, curve const& c, std::vector<panel>& panels) {
  heading(c.name);
  opteron::savings_by_size found{c.name, "rows", "Cilk-a", "CATS"};
  std::vector<std::uint32_t> const sizes =
      wanted.quick ? std::vector<std::uint32_t>{128} : std::vector<std::uint32_t>{1024, 2048, 4096, 8192};
  for (std::uint32_t const rows : sizes) {
    auto const program = c.make({.rows = rows,
                                 .columns = wanted.quick ? 64u : 512u,
                                 .leaf_rows = 8,
                                 .steps = wanted.quick ? 2u : 20u,
                                 .element_bytes = 16});
    auto const said = [&](char const* const(&of)[2]) {
      return std::string{rows == 1024 ? of[0] : rows == 8192 ? of[1] : ""};
    };
    found.add(fmt::format("{}", rows), rows, opteron::compare<opteron::cats>(wanted, program),
              {said(c.paper.time), said(c.paper.l2), said(c.paper.l3)});
  }
  found.print();
  panels.emplace_back(found.lines());
}

}  // namespace

void cats_fig9(request const& wanted) {
  fmt::print(
      "CATS, Fig. 9 to 12: 512 columns, leaves of 8 rows; what CATS saves of Cilk-a's time and misses; means of {} "
      "seeds.\nThieves spin, but in the column that says so.\n",
      wanted.rounds);
  std::vector<panel> panels;
  show(wanted, {"heat", opteron::heat, {{"40.4 %", "12.3 %"}, {"15.2 %", "3.6 %"}, {"76.1 %", "55.9 %"}}}, panels);
  show(wanted, {"SOR", opteron::sor, {{"56.1 %", "21.1 %"}, {"", ""}, {"", ""}}}, panels);
  show(wanted, {"heat-ub", opteron::heat_ub, {{"35.3 %", "11.4 %"}, {"", ""}, {"", ""}}}, panels);
  show(wanted, {"SOR-ub", opteron::sor_ub, {{"44.9 %", "18 %"}, {"21.2 %", "5.2 %"}, {"73.1 %", "38.2 %"}}}, panels);
  write_plot(wanted, "CATS and the size of the plate (CATS, Fig. 9 to 12)", panels);
}

}  // namespace papers
