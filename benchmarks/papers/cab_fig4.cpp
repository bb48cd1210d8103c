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
  double l2_cilk, l2_cab, l3_cilk, l3_cab;
};

std::vector<program> programs(request const& wanted) {
  std::uint32_t const n = wanted.quick ? 128 : 1024, leaf = 8;
  opteron::shape const plate{.rows = n, .columns = n, .leaf_rows = leaf, .steps = wanted.quick ? 2u : 20u};
  auto const numbers = heist::sim::mergesort({.elements = std::uint64_t{n} * n,
                                              .leaf_elements = std::uint64_t{n} * leaf,
                                              .element_bytes = 4,
                                              .ticks_per_element = opteron::ticks_per_element});
  return {{"GE", opteron::ge(plate), 4203604, 2617207, 1545310, 180145},
          {"Mergesort", numbers, 5717785, 3448768, 1974802, 998605},
          {"Heat", opteron::heat(plate), 8457899, 5577723, 2812464, 755786},
          {"SOR", opteron::sor(plate), 14134418, 10863876, 5259771, 1256203}};
}

}  // namespace

void cab_fig4(request const& wanted) {
  fmt::print(
      "CAB, Fig. 4 and Table IV: 1024 x 1024 elements, 4 x 4 Opteron 8380, leaves of 8 rows; what CAB saves of Cilk's\n"
      "time and of its misses, as published and with the region's memory of squads; means of {} seeds\n\n",
      wanted.rounds);
  table t{{"program", "time, CAB", "with memory", "paper", "L2 misses, CAB", "with memory", "paper", "L3 misses, CAB",
           "with memory", "paper"}};
  bar_panel bars{
      "saved", "%", {"time", "time, memory", "L2", "L2, memory", "L2, paper", "L3", "L3, memory", "L3, paper"}, {}};
  for (auto const& p : programs(wanted)) {
    auto const base = opteron::mean<opteron::cilk>(wanted, p.tasks);
    auto const s = opteron::saved_by(opteron::mean<opteron::literal_cab>(wanted, p.tasks), base);
    auto const m = opteron::saved_by(opteron::mean<opteron::cab>(wanted, p.tasks), base);
    double const l2 = saved(p.l2_cilk, p.l2_cab), l3 = saved(p.l3_cilk, p.l3_cab);
    t.add({p.name, percent(s.time), percent(m.time), "10 to 55 %", percent(s.l2), percent(m.l2), percent(l2),
           percent(s.l3), percent(m.l3), percent(l3)});
    bars.groups.emplace_back(p.name, std::vector<double>{100 * s.time, 100 * m.time, 100 * s.l2, 100 * m.l2, 100 * l2,
                                                         100 * s.l3, 100 * m.l3, 100 * l3});
  }
  print(t);
  write_plot(wanted, "CAB against random stealing, 1024 x 1024 (CAB, Fig. 4 and Table IV)", {bars});
}

}  // namespace papers
