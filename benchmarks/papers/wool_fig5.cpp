// Wool, section 5.2 and Fig. 5: the speedup of four ways to choose victims on 63 workers.
#include <fmt/format.h>

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "watched.hpp"
#include "wool.hpp"
#include "wool_programs.hpp"

namespace papers {
namespace {

constexpr std::array<char const*, 4> strategies{"RAND", "SAMP", "SET", "SAMP+SET"};

/// Means of several seeds.
struct result {
  double speedup = 0, steals = 0, attempts = 0, new_to_tlb = 0;
};

template <class Victim>
result run(request const& wanted, wool::program const& p, std::uint32_t workers, double alone) {
  result sum;
  watched<Victim>::total = {};
  for (unsigned round = 0; round < wanted.rounds; ++round) {
    auto const r = wool::simulate<watched<Victim>>(p.tasks, workers, wanted.seed + round, wool::tile_costs(), p.parks);
    sum.speedup += alone / static_cast<double>(r.makespan) / wanted.rounds;
    sum.steals += static_cast<double>(r.steals) / wanted.rounds;
    sum.attempts += static_cast<double>(r.attempts + r.looks) / wanted.rounds;
  }
  sum.new_to_tlb = watched<Victim>::total.share();
  return sum;
}

std::array<result, 4> run_all(request const& wanted, wool::program const& p, std::uint32_t workers) {
  auto const alone = static_cast<double>(wool::simulate<wool::rand>(p.tasks, 1, wanted.seed).makespan);
  return {run<wool::rand>(wanted, p, workers, alone), run<wool::samp>(wanted, p, workers, alone),
          run<wool::set>(wanted, p, workers, alone), run<wool::samp_set>(wanted, p, workers, alone)};
}

}  // namespace

void wool_fig5(request const& wanted) {
  constexpr std::uint32_t most = 63;
  std::uint32_t const full = wanted.quick ? 7 : most;
  auto const programs = wool::programs(wanted);
  fmt::print("Wool, Fig. 5 and Table 1: {} workers of a TILEPro64, relative speedup; means of {} seeds\n", full,
             wanted.rounds);
  heading("Speedup");
  table speedups{{"program", "RAND", "SAMP", "SET", "SAMP+SET", "SET / RAND", "paper's model, from its Table 1"}};
  table polled{{"program", "steals: RAND", "SET", "SAMP+SET", "paper's Table 1, 63 workers", "new to the TLB: RAND",
                "SAMP", "SET", "SAMP+SET"}};
  for (auto const& p : programs) {
    auto const all = run_all(wanted, p, full);
    std::vector<std::string> cells{p.name};
    for (auto const& r : all) cells.push_back(fmt::format("{:.1f}", r.speedup));
    cells.push_back(fmt::format("{:.3f}", all[2].speedup / all[0].speedup));
    cells.push_back(p.parallelism == 0 ? ""
                                       : fmt::format("{:.1f} to {:.1f}", wool::slow_end(p.parallelism, full),
                                                     wool::fast_end(p.parallelism, full)));
    speedups.add(cells);
    polled.add({p.name, fmt::format("{:.0f}", all[0].steals), fmt::format("{:.0f}", all[2].steals),
                fmt::format("{:.0f}", all[3].steals), p.steals_by_63 == 0 ? "" : fmt::format("{:.0f}", p.steals_by_63),
                percent(all[0].new_to_tlb), percent(all[1].new_to_tlb), percent(all[2].new_to_tlb),
                percent(all[3].new_to_tlb)});
  }
  print(speedups);
  heading("Why SET is faster on a TILEPro64: victims that a thief's TLB of 16 entries has not seen lately");
  print(polled);
  if (wanted.svg.empty()) return;
  std::vector<panel> panels;
  for (auto const& p : programs) {
    line_panel lines{p.name, "workers", "speedup", false, {}};
    for (auto const* name : strategies) lines.lines.push_back({name, {}});
    if (p.parallelism != 0) {
      lines.lines.push_back({"paper's model, slow end", {}});
      lines.lines.push_back({"paper's model, fast end", {}});
    }
    for (std::uint32_t workers = 7; workers <= full; workers += 8) {
      auto const all = run_all(wanted, p, workers);
      for (std::size_t i = 0; i < all.size(); ++i) lines.lines[i].points.emplace_back(workers, all[i].speedup);
      if (p.parallelism == 0) continue;
      lines.lines[4].points.emplace_back(workers, wool::slow_end(p.parallelism, workers));
      lines.lines[5].points.emplace_back(workers, wool::fast_end(p.parallelism, workers));
    }
    panels.emplace_back(lines);
  }
  write_plot(wanted, "Victim selection on up to 63 workers (Wool, Fig. 5)", panels);
}

}  // namespace papers
