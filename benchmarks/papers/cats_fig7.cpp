// CATS, Fig. 7 and Table 2: memory-bound programs with balanced and unbalanced trees.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

/// A program, with its misses from Table 2 and its saving of time from the paper's text.
struct program {
  std::string name;
  heist::sim::program tasks;
  double l2_cilk, l2_cats, l3_cilk, l3_cats;
  char const* time;
};

std::vector<program> programs(request const& wanted) {
  std::uint32_t const rows = wanted.quick ? 128 : 1024, leaf = 8;
  opteron::shape const plate{
      .rows = rows, .columns = rows / 2, .leaf_rows = leaf, .steps = wanted.quick ? 2u : 20u, .element_bytes = 16};
  opteron::shape const square{.rows = rows, .columns = rows, .leaf_rows = leaf, .steps = 0};
  return {{"GE", opteron::ge(square), 58.8, 50.3, 14.5, 2.94, "35.3 to 74.4 %"},
          {"GE-ub", opteron::ge_ub(square), 37.1, 20, 10.7, 2.15, "35.3 to 74.4 %"},
          {"Heat", opteron::heat(plate), 79.6, 67.5, 24.8, 5.9, "40.4 %"},
          {"Heat-ub", opteron::heat_ub(plate), 78.7, 67.6, 29.7, 3.72, "35.3 %"},
          {"SOR", opteron::sor(plate), 85, 66.2, 29.6, 4.75, "56.1 %"},
          {"SOR-ub", opteron::sor_ub(plate), 85.5, 67.4, 30.7, 8.27, "44.9 %"}};
}

}  // namespace

void cats_fig7(request const& wanted) {
  fmt::print(
      "CATS, Fig. 7 and Table 2: 1024 x 512 elements (GE: 1024 x 1024), leaves of 8 rows; what CATS saves of\n"
      "Cilk-a's time and misses, as published and with the region's memory of squads, and CAB beside it; means of {} "
      "seeds\n\n",
      wanted.rounds);
  table t{{"program", "time, CATS", "with memory", "CAB", "with memory", "paper", "L2 misses, CATS", "with memory",
           "paper", "L3 misses, CATS", "with memory", "CAB", "with memory", "paper"}};
  bar_panel bars{"saved by CATS",
                 "%",
                 {"time", "time, memory", "L2", "L2, memory", "L2, paper", "L3", "L3, memory", "L3, paper"},
                 {}};
  for (auto const& p : programs(wanted)) {
    auto const base = opteron::mean<opteron::cilk>(wanted, p.tasks);
    auto const cats = opteron::saved_by(opteron::mean<opteron::literal_cats>(wanted, p.tasks), base);
    auto const memory = opteron::saved_by(opteron::mean<opteron::cats>(wanted, p.tasks), base);
    auto const cab = opteron::saved_by(opteron::mean<opteron::literal_cab>(wanted, p.tasks), base);
    auto const cab_memory = opteron::saved_by(opteron::mean<opteron::cab>(wanted, p.tasks), base);
    double const l2 = saved(p.l2_cilk, p.l2_cats), l3 = saved(p.l3_cilk, p.l3_cats);
    t.add({p.name, percent(cats.time), percent(memory.time), percent(cab.time), percent(cab_memory.time), p.time,
           percent(cats.l2), percent(memory.l2), percent(l2), percent(cats.l3), percent(memory.l3), percent(cab.l3),
           percent(cab_memory.l3), percent(l3)});
    bars.groups.emplace_back(
        p.name, std::vector<double>{100 * cats.time, 100 * memory.time, 100 * cats.l2, 100 * memory.l2, 100 * l2,
                                    100 * cats.l3, 100 * memory.l3, 100 * l3});
  }
  print(t);
  write_plot(wanted, "CATS against random stealing (CATS, Fig. 7 and Table 2)", {bars});
}

}  // namespace papers
