// CAB, Fig. 4 and Table IV: four memory-bound programs on 1024 x 1024 elements.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>  // pair
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

/// A program, with its misses from Table IV.
struct program {
  std::string name;
  heist::sim::program tasks;
  opteron::stated_misses misses;
};

std::vector<program> programs(request const& wanted) {
  std::uint32_t const n = wanted.quick ? 128 : 1024, leaf = 8;
  opteron::shape const plate{.rows = n, .columns = n, .leaf_rows = leaf, .steps = wanted.quick ? 2u : 20u};
  auto const numbers = heist::sim::mergesort({.elements = std::uint64_t{n} * n,
                                              .leaf_elements = std::uint64_t{n} * leaf,
                                              .element_bytes = 4,
                                              .ticks_per_element = opteron::ticks_per_element});
  opteron::stated_misses const of_ge{4203604, 2617207, 1545310, 180145};
  return {{"GE", opteron::ge(plate), of_ge},
          {"Mergesort", numbers, {5717785, 3448768, 1974802, 998605}},
          {"Heat", opteron::heat(plate), {8457899, 5577723, 2812464, 755786}},
          {"SOR", opteron::sor(plate), {14134418, 10863876, 5259771, 1256203}},
          {"GE, all rows", opteron::ge(plate, false), of_ge}};
}

}  // namespace

void cab_fig4(request const& wanted) {
  fmt::print(
      "CAB, Fig. 4 and Table IV: 1024 x 1024 elements, 4 x 4 Opteron 8380, leaves of 8 rows; what CAB saves of Cilk's\n"
      "time and of its misses, as published and with the region's memory of squads; means of {} seeds. Thieves spin, "
      "but in\nthe first column. GE divides the rows below the pivot; in the last row, all rows.\n",
      wanted.rounds);
  opteron::tables_of_savings tables{"CAB"};
  for (auto const& p : programs(wanted)) {
    tables.add(p.name, opteron::compare<opteron::cab>(wanted, p.tasks), "10 to 55 %", p.misses);
  }
  tables.print();
  write_plot(wanted, "CAB against random stealing, 1024 x 1024 (CAB, Fig. 4 and Table IV)", {tables.bars()});
}

}  // namespace papers
