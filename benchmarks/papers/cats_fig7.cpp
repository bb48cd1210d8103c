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
  opteron::stated_misses misses;
  char const* time;
};

std::vector<program> programs(request const& wanted) {
  std::uint32_t const rows = wanted.quick ? 128 : 1024, leaf = 8;
  opteron::shape const plate{
      .rows = rows, .columns = rows / 2, .leaf_rows = leaf, .steps = wanted.quick ? 2u : 20u, .element_bytes = 16};
  opteron::shape const square{.rows = rows, .columns = rows, .leaf_rows = leaf, .steps = 0};
  opteron::stated_misses const of_ge{58.8, 50.3, 14.5, 2.94}, of_ge_ub{37.1, 20, 10.7, 2.15};
  return {{"GE", opteron::ge(square), of_ge, "35.3 to 74.4 %"},
          {"GE-ub", opteron::ge_ub(square), of_ge_ub, "35.3 to 74.4 %"},
          {"Heat", opteron::heat(plate), {79.6, 67.5, 24.8, 5.9}, "40.4 %"},
          {"Heat-ub", opteron::heat_ub(plate), {78.7, 67.6, 29.7, 3.72}, "35.3 %"},
          {"SOR", opteron::sor(plate), {85, 66.2, 29.6, 4.75}, "56.1 %"},
          {"SOR-ub", opteron::sor_ub(plate), {85.5, 67.4, 30.7, 8.27}, "44.9 %"},
          {"GE, all rows", opteron::ge(square, false), of_ge, "35.3 to 74.4 %"},
          {"GE-ub, all rows", opteron::ge_ub(square, false), of_ge_ub, "35.3 to 74.4 %"}};
}

}  // namespace

void cats_fig7(request const& wanted) {
  fmt::print(
      "CATS, Fig. 7 and Table 2: 1024 x 512 elements (GE: 1024 x 1024), leaves of 8 rows; what CATS saves of\n"
      "Cilk-a's time and misses, as published and with the region's memory of squads, and CAB below; means of {} "
      "seeds.\n"
      "Thieves spin, but in the first column. GE divides the rows below the pivot; in the last rows, all rows.\n",
      wanted.rounds);
  opteron::tables_of_savings tables{"CATS"}, tables_of_cab{"CAB"};
  for (auto const& p : programs(wanted)) {
    tables.add(p.name, opteron::compare<opteron::cats>(wanted, p.tasks), p.time, p.misses);
    tables_of_cab.add(p.name, opteron::compare<opteron::cab>(wanted, p.tasks), "", p.misses);
  }
  tables.print();
  tables_of_cab.print();
  write_plot(wanted, "CATS against random stealing (CATS, Fig. 7 and Table 2)", {tables.bars()});
}

}  // namespace papers
