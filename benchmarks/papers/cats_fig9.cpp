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
  table t{{"rows", "time, Cilk-a (ms)", "saved, sleeping thieves", "time saved", "with memory", "paper",
           "L2 misses saved", "with memory", "paper", "L3 misses saved", "with memory", "paper", "L3/L2, Cilk-a",
           "CATS", "with memory"}};
  line_panel lines{
      c.name + ": saved by CATS",
      "rows",
      "%",
      true,
      {{"time", {}}, {"L2 misses", {}}, {"L3 misses", {}}, {"time, with memory", {}}, {"L3 misses, with memory", {}}}};
  std::vector<std::uint32_t> const sizes =
      wanted.quick ? std::vector<std::uint32_t>{128} : std::vector<std::uint32_t>{1024, 2048, 4096, 8192};
  for (std::uint32_t const rows : sizes) {
    auto const program = c.make({.rows = rows,
                                 .columns = wanted.quick ? 64u : 512u,
                                 .leaf_rows = 8,
                                 .steps = wanted.quick ? 2u : 20u,
                                 .element_bytes = 16});
    auto const r = opteron::compare<opteron::cats>(wanted, program);
    auto const said = [&](char const* const(&of)[2]) {
      return std::string{rows == 1024 ? of[0] : rows == 8192 ? of[1] : ""};
    };
    t.add({fmt::format("{}", rows), fmt::format("{:.2f}", 1e-6 * r.base.time), percent(r.sleeping.time),
           percent(r.literal.time), percent(r.remember.time), said(c.paper.time), percent(r.literal.l2),
           percent(r.remember.l2), said(c.paper.l2), percent(r.literal.l3), percent(r.remember.l3), said(c.paper.l3),
           fmt::format("{:.2f}", r.base.l3_of_l2()), fmt::format("{:.2f}", r.of_literal.l3_of_l2()),
           fmt::format("{:.2f}", r.of_remember.l3_of_l2())});
    lines.lines[0].points.emplace_back(rows, 100 * r.literal.time);
    lines.lines[1].points.emplace_back(rows, 100 * r.literal.l2);
    lines.lines[2].points.emplace_back(rows, 100 * r.literal.l3);
    lines.lines[3].points.emplace_back(rows, 100 * r.remember.time);
    lines.lines[4].points.emplace_back(rows, 100 * r.remember.l3);
  }
  print(t);
  panels.emplace_back(lines);
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
