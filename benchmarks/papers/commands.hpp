// The reproductions. Each is a command of bench_papers.
#pragma once

#include <array>
#include <string_view>

#include "report.hpp"

namespace papers {

void wool_fig4(request const& wanted);
void wool_fig5(request const& wanted);
void wool_fig6(request const& wanted);
void wool_fig7(request const& wanted);
void cab_fig4(request const& wanted);
void cab_fig5(request const& wanted);
void cab_fig6(request const& wanted);
void cats_fig7(request const& wanted);
void cats_fig8(request const& wanted);
void cats_fig9(request const& wanted);
void line_cost(request const& wanted);
void pages(request const& wanted);
void replay_fig4(request const& wanted);
void replay_links(request const& wanted);
void replay_six(request const& wanted);
void adaptive_thieves(request const& wanted);
void calibrate(request const& wanted);
void cache_model(request const& wanted);

struct command {
  std::string_view name;
  std::string_view what;
  void (*run)(request const&);
};

inline constexpr std::array<command, 18> commands{
    {{"wool-fig4", "Wool, Fig. 4: sampling, 16 to 1024 workers: time and number of steals", wool_fig4},
     {"wool-fig5", "Wool, Fig. 5: speedup of RAND, SAMP, SET and SAMP+SET on 63 workers", wool_fig5},
     {"wool-fig6", "Wool, Fig. 6: where the time goes: the program, steals, attempts in vain, joins", wool_fig6},
     {"wool-fig7", "Wool, Fig. 7 and 8: SAMP+SET beside SET: steals, their cost, and delayed steals", wool_fig7},
     {"cab-fig4", "CAB, Fig. 4 and Table IV: memory-bound programs, time and cache misses", cab_fig4},
     {"cab-fig5", "CAB, Fig. 5: every boundary level, and the one of Eq. 4", cab_fig5},
     {"cab-fig6", "CAB, Fig. 6 and 7: gains fall with the size", cab_fig6},
     {"cats-fig7", "CATS, Fig. 7 and Table 2: memory-bound programs, time and cache misses", cats_fig7},
     {"cats-fig8", "CATS, Fig. 8: the sizes of involved data that cache misses say, beside the real ones", cats_fig8},
     {"cats-fig9", "CATS, Fig. 9 to 12: balanced and unbalanced trees of growing size", cats_fig9},
     {"line-cost", "CAB: what it saves, for several costs of a line from memory", line_cost},
     {"pages", "CAB and CATS: what they save by where pages are, and by what a far line costs", pages},
     {"replay-fig4", "Constrained work stealing, Fig. 4: heat on 1 to 80 workers, data where the schedule is",
      replay_fig4},
     {"replay-six", "the same for all six programs on 80 workers", replay_six},
     {"replay-links", "the same on 80 workers, for several bandwidths of a node's links", replay_links},
     {"adaptive-thieves", "Adaptive scheduler: awake thieves over time: chain, tree, random graph", adaptive_thieves},
     {"calibrate", "simulated against measured runs: stress and UTS", calibrate},
     {"cache-model", "simulated against measured: heat, SOR and GE with data of half, one and two times both L2",
      cache_model}}};

}  // namespace papers
