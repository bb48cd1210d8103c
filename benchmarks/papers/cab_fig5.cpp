// CAB, Fig. 5: heat with every boundary level, and the level of Eq. 4.
#include <fmt/format.h>

#include <heist/locality/policy/boundary_level.hpp>

#include <algorithm>  // min_element
#include <cstddef>    // size_t
#include <cstdint>
#include <iterator>  // distance
#include <string>
#include <utility>  // pair
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

constexpr std::uint32_t leaf_rows = 128;  // the paper's section V-B

std::uint32_t levels(std::uint32_t rows) {
  std::uint32_t level = 1;
  for (; rows > leaf_rows; rows -= rows / 2) ++level;
  return level;
}

constexpr std::uint32_t most_levels = 6;

struct size {
  std::uint32_t rows, columns;
  char const* name;
};

/// Shows the table of one policy, beside Cilk with the same thieves.
template <class Policy, class Cilk>
void show(request const& wanted, std::string const& title, std::vector<size> const& sizes, std::vector<panel>& panels) {
  constexpr std::uint64_t squads = 4, shared_cache = 6 << 20;
  heading(title);
  std::vector<std::string> heads{"size"};
  for (std::uint32_t bl = 1; bl <= most_levels; ++bl) heads.push_back(fmt::format("BL {}", bl));
  heads.insert(heads.end(), {"best BL", "Eq. 4", "Eq. 4's time / best's", "paper: best BL"});
  table t{heads};
  line_panel lines{title, "BL", "time / Cilk's", false, {}};
  for (auto const& s : sizes) {
    auto const program =
        opteron::heat({.rows = s.rows, .columns = s.columns, .leaf_rows = leaf_rows, .steps = wanted.quick ? 2u : 10u});
    double const cilk = opteron::mean<Cilk>(wanted, program).time;
    std::vector<std::string> cells{s.name};
    std::vector<double> times;
    line l{s.name, {}};
    for (std::uint32_t bl = 1; bl <= most_levels; ++bl) {
      if (bl > levels(s.rows)) {
        cells.emplace_back("");
        continue;
      }
      times.push_back(opteron::mean<Policy>(wanted, program, {.boundary_level = bl}).time / cilk);
      cells.push_back(fmt::format("{:.3f}", times.back()));
      l.points.emplace_back(bl, times.back());
    }
    // The paper uses Eq. 4 with the size of one matrix of doubles.
    std::uint32_t const chosen =
        heist::tier::boundary_level(2, squads, std::uint64_t{8} * s.rows * s.columns, shared_cache);
    auto const best = std::min_element(times.begin(), times.end());
    cells.push_back(fmt::format("{}", std::distance(times.begin(), best) + 1));
    cells.push_back(fmt::format("{}", chosen));
    cells.push_back(chosen <= times.size() ? fmt::format("{:.3f}", times[chosen - 1] / *best) : "");
    cells.emplace_back(s.rows == 3072 ? "4" : "Eq. 4's");
    t.add(cells);
    lines.lines.push_back(l);
  }
  print(t);
  panels.emplace_back(lines);
}

}  // namespace

void cab_fig5(request const& wanted) {
  std::vector<size> const sizes = wanted.quick ? std::vector<size>{{512, 64, "512 x 64"}}
                                               : std::vector<size>{{1024, 1024, "1k x 1k"},
                                                                   {2048, 1024, "2k x 1k"},
                                                                   {2048, 2048, "2k x 2k"},
                                                                   {3072, 2048, "3k x 2k"},
                                                                   {4096, 4096, "4k x 4k"}};
  fmt::print(
      "CAB, Fig. 5: heat, leaves of at most 128 rows, time relative to Cilk (random stealing) for each BL; means of {} "
      "seeds\n",
      wanted.rounds);
  std::vector<panel> panels;
  using namespace opteron;
  show<published<spinning<cab>>, spinning<cilk>>(wanted, "CAB as published, thieves spin", sizes, panels);
  show<spinning<cab>, spinning<cilk>>(wanted, "with the region's memory of squads, thieves spin", sizes, panels);
  show<published<cab>, cilk>(wanted, "CAB as published, thieves sleep (heist's standard idle policy)", sizes, panels);
  write_plot(wanted, "Heat with every boundary level (CAB, Fig. 5)", panels);
}

}  // namespace papers
