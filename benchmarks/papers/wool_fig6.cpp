// Wool, section 5.3, Fig. 6: the parts of the CPU time, in units of one worker's run.
#include <fmt/format.h>

#include <string>
#include <utility>  // pair
#include <vector>

#include "commands.hpp"
#include "wool.hpp"
#include "wool_programs.hpp"

namespace papers {
namespace {

/// Shares of one worker's run. Means of several seeds.
struct breakdown {
  double application = 0, steals = 0, search = 0, in_joins = 0;
  double all() const { return application + steals + search + in_joins; }
};

template <class Victim>
breakdown run(request const& wanted, wool::program const& p, std::uint32_t workers) {
  double const unit = static_cast<double>(wool::simulate<Victim>(p.tasks, 1, wanted.seed).makespan) * wanted.rounds;
  breakdown sum;
  for (unsigned round = 0; round < wanted.rounds; ++round) {
    auto const t = wool::simulate<Victim>(p.tasks, workers, wanted.seed + round, wool::tile_costs(), p.parks).time;
    sum.application += static_cast<double>(t.work + t.memory + t.fork_join) / unit;
    sum.steals += static_cast<double>(t.steal) / unit;
    sum.search += static_cast<double>(t.search) / unit;
    sum.in_joins += static_cast<double>(t.waiting) / unit;
  }
  return sum;
}

}  // namespace

void wool_fig6(request const& wanted) {
  std::uint32_t const workers = wanted.quick ? 7 : 63;
  fmt::print("Wool, Fig. 6: CPU time of all {} workers, in units of one worker's run; means of {} seeds\n", workers,
             wanted.rounds);
  std::vector<panel> panels;
  for (auto const& p : wool::programs(wanted)) {
    heading(p.name);
    table t{{"strategy", "application", "successful steals", "search", "search in joins", "all", "speedup"}};
    bar_panel bars{p.name, "of one worker's run", {"application", "steals", "search", "search in joins"}, {}};
    auto const add = [&](char const* name, breakdown const& b) {
      std::vector<double> const parts{b.application, b.steals, b.search, b.in_joins};
      std::vector<std::string> cells{name};
      for (double const part : parts) cells.push_back(fmt::format("{:.3f}", part));
      cells.push_back(fmt::format("{:.3f}", b.all()));
      cells.push_back(fmt::format("{:.1f}", workers / b.all()));
      t.add(cells);
      bars.groups.emplace_back(name, parts);
    };
    add("RAND", run<wool::rand>(wanted, p, workers));
    add("SAMP", run<wool::samp>(wanted, p, workers));
    add("SET", run<wool::set>(wanted, p, workers));
    add("SAMP+SET", run<wool::samp_set>(wanted, p, workers));
    print(t);
    panels.emplace_back(bars);
  }
  write_plot(wanted, "Where the time goes (Wool, Fig. 6)", panels);
}

}  // namespace papers
