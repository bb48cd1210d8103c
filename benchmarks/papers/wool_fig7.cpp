// Wool, section 5.4, Fig. 7 and 8: sampling within victim sets. There are fewer steals, and each costs more. The last
// column has the time with delayed steals.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "commands.hpp"
#include "wool.hpp"
#include "wool_programs.hpp"

namespace papers {
namespace {

/// Means of several seeds.
struct result {
  double time = 0, steals = 0, cost = 0;
};

template <class Victim>
result run(request const& wanted, wool::program const& p, std::uint32_t workers, heist::sim::costs const& costs) {
  result sum;
  for (unsigned round = 0; round < wanted.rounds; ++round) {
    auto const r = wool::simulate<Victim>(p.tasks, workers, wanted.seed + round, costs, p.parks);
    auto const steals = static_cast<double>(r.steals);
    sum.time += static_cast<double>(r.makespan) / wanted.rounds;
    sum.steals += steals / wanted.rounds;
    sum.cost +=
        (static_cast<double>(r.time.steal) + static_cast<double>(r.looks) * static_cast<double>(costs.look.mean)) /
        steals / wanted.rounds;
  }
  return sum;
}

}  // namespace

void wool_fig7(request const& wanted) {
  std::uint32_t const workers = wanted.quick ? 7 : 63;
  auto const costs = wool::tile_costs();
  auto delayed = costs;
  delayed.steal.mean += 4000;
  fmt::print("Wool, Fig. 7 and 8: SAMP+SET relative to SET, {} workers of a TILEPro64; means of {} seeds\n\n", workers,
             wanted.rounds);
  table t{{"program", "steals", "cost of a steal", "time", "time, steals delayed by 4000 cycles"}};
  bar_panel bars{
      "SAMP+SET relative to SET", "ratio", {"steals", "cost of a steal", "time", "time, delayed steals"}, {}};
  for (auto const& p : wool::programs(wanted)) {
    auto const set = run<wool::set>(wanted, p, workers, costs);
    auto const both = run<wool::samp_set>(wanted, p, workers, costs);
    auto const slow_set = run<wool::set>(wanted, p, workers, delayed);
    auto const slow_both = run<wool::samp_set>(wanted, p, workers, delayed);
    std::vector<double> const ratios{both.steals / set.steals, both.cost / set.cost, both.time / set.time,
                                     slow_both.time / slow_set.time};
    std::vector<std::string> cells{p.name};
    for (double const r : ratios) cells.push_back(fmt::format("{:.3f}", r));
    t.add(cells);
    bars.groups.emplace_back(p.name, ratios);
  }
  t.add({"paper", "< 1", "> 1", "about 1", "minor gain for stress"});
  print(t);
  write_plot(wanted, "Sampling within victim sets (Wool, Fig. 7 and 8)", {bars});
}

}  // namespace papers
