// Constrained work stealing, Fig. 4: heat on 1 to 80 workers, whose data follows the schedule or does not.
#include <fmt/format.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <utility>  // move
#include <vector>

#include "commands.hpp"
#include "e7_8860.hpp"

namespace papers {
namespace {

using heist::replay_mode;
using heist::sim::page_placement;
using heist::sim::report;
using heist::sim::ticks;

constexpr unsigned iterations = 5;  // the paper's

/// Of a step of the kernel.
struct figures {
  double ns = 0;
  double far = 0;   ///< share of the lines from memory that came from another node
  double idle = 0;  ///< share of the workers' time without work
  double steals = 0, donations = 0, tree_bytes = 0;
};

figures figures_of(report const& r) {
  auto const runs = static_cast<double>(r.run_times.size());
  auto const share = [](auto part, auto whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  return {static_cast<double>(r.makespan) / runs,
          share(r.cache.far_memory, r.cache.memory),
          share(r.time.search + r.time.steal + r.time.waiting + r.time.asleep, r.time.total()),
          static_cast<double>(r.steals) / runs,
          static_cast<double>(r.donations) / runs,
          static_cast<double>(r.trees.back().bytes())};
}

void add(figures& sum, figures const& f, double weight) {
  for (auto const member :
       {&figures::ns, &figures::far, &figures::idle, &figures::steals, &figures::donations, &figures::tree_bytes})
    sum.*member += f.*member * weight;
}

/// Means of all seeds.
struct point {
  std::uint32_t workers = 0;
  figures first_touch, interleaved, by_hand, relaxed[iterations], ordered;
};

struct programs {
  heist::sim::program initialiser, steps;
};

/// The same program whose blocks are placed by hand, and where.
struct placed_programs : programs {
  heist::steal_tree tree;
};

/// One seed, added to `all`.
void measure(programs const& p, placed_programs const& placed, std::uint64_t seed, double weight, point& all) {
  e7_8860::setting const plain{.workers = all.workers, .seed = seed};
  auto const initialised = e7_8860::simulate(p.initialiser, plain);

  auto wanted = plain;
  wanted.homes = &*initialised.homes;
  wanted.seed = seed + 1000;  // the initialiser's steals are not the kernel's
  add(all.first_touch, figures_of(e7_8860::simulate(p.steps, wanted)), weight);

  wanted.homes = nullptr;
  wanted.pages = page_placement::interleaved;
  add(all.interleaved, figures_of(e7_8860::simulate(p.steps, wanted)), weight);

  wanted = plain;
  wanted.follow = &placed.tree;
  wanted.mode = replay_mode::strict_unordered;
  auto const by_hand = e7_8860::simulate(placed.initialiser, wanted);
  wanted.homes = &*by_hand.homes;
  add(all.by_hand, figures_of(e7_8860::simulate(placed.steps, wanted)), weight);

  // Section V: relaxed along the last tree, then the data along the new one.
  heist::steal_tree tree = initialised.trees.at(0);
  heist::sim::page_homes homes = *initialised.homes;
  wanted = plain;
  wanted.follow = &tree;
  for (figures& iteration : all.relaxed) {
    wanted.homes = &homes;
    wanted.mode = replay_mode::relaxed;
    ++wanted.seed;
    auto const kernel = e7_8860::simulate(p.steps, wanted);
    add(iteration, figures_of(kernel), weight);
    tree = kernel.trees.back();
    wanted.homes = nullptr;
    wanted.mode = replay_mode::strict_ordered;
    homes = *e7_8860::simulate(p.initialiser, wanted).homes;
  }
  wanted.homes = &homes;
  add(all.ordered, figures_of(e7_8860::simulate(p.steps, wanted)), weight);
}

}  // namespace

void replay_fig4(request const& wanted) {
  e7_8860::plate const plate{.block_rows = wanted.quick ? 32u : 512u};
  e7_8860::heat const heat{plate};
  programs const p{heat.initialiser(), heat.steps()};
  fmt::print(
      "Constrained work stealing, Fig. 4: heat, {} blocks, 8 x 10 E7-8860; everything 1/{} of the paper's size;\n"
      "speedup over one worker; means of {} seeds\n",
      plate.blocks(), e7_8860::scale, wanted.rounds);

  std::vector<std::uint32_t> counts{1, 2, 4, 6, 8, 10, 20, 30, 40, 50, 60, 70, 80};
  if (wanted.quick) counts = {1, 20};
  std::vector<point> points;
  for (std::uint32_t const workers : counts) {
    points.emplace_back().workers = workers;
    e7_8860::heat const by_hand{plate, workers};
    placed_programs const placed{{by_hand.initialiser(), by_hand.steps()}, by_hand.by_hand()};
    for (unsigned round = 0; round < wanted.rounds; ++round)
      measure(p, placed, wanted.seed + round, 1.0 / wanted.rounds, points.back());
  }

  double const serial = points[0].first_touch.ns;
  struct curve {
    std::string name;
    figures const& (*of)(point const&);
    std::string paper;  ///< at 80
  };
  std::vector<curve> const curves{{"random, first touch", [](point const& k) -> auto const& {return k.first_touch;
}
, "about 15"
}  // namespace papers
, {"random, interleaved", [](point const& k) -> auto const& {return k.interleaved;
}
, "about 15"
}
, {"blocks by hand", [](point const& k) -> auto const& {return k.by_hand;
}
, "up to 46"
}
, {"relaxed, 5th time", [](point const& k) -> auto const& {return k.relaxed[iterations - 1];
}
, "up to 2.5 x first touch"
}
, {
  "then strict_ordered", [](point const& k) -> auto const& {
    return k.ordered;
  }
  , ""
}
}
;

heading("Speedup");
std::vector<std::string> heads{"workers"};
for (curve const& c : curves) heads.push_back(c.name);
heads.emplace_back("strict_ordered / first touch");
table speedups{heads};
line_panel panel{"heat", "workers", "speedup", false, {}};
for (curve const& c : curves) panel.lines.push_back({c.name, {}});
for (point const& k : points) {
  std::vector<std::string> cells{fmt::format("{}", k.workers)};
  for (std::size_t i = 0; i < curves.size(); ++i) {
    double const speedup = serial / curves[i].of(k).ns;
    cells.push_back(fmt::format("{:.1f}", speedup));
    panel.lines[i].points.emplace_back(k.workers, speedup);
  }
  cells.push_back(fmt::format("{:.2f}", k.first_touch.ns / k.ordered.ns));
  speedups.add(cells);
}
std::vector<std::string> paper{"paper, 80"};
for (curve const& c : curves) paper.push_back(c.paper);
paper.emplace_back("up to 2.5");
speedups.add(paper);
print(speedups);

point const& last = points.back();
heading(fmt::format("A step on {} workers", last.workers));
table t{{"schedule", "us", "lines from far memory", "idle", "steals", "donations", "steal tree (KB)"}};
auto const row = [&](std::string const& name, figures const& f) {
  t.add({name, fmt::format("{:.0f}", f.ns / 1000), percent(f.far), percent(f.idle), fmt::format("{:.0f}", f.steals),
         fmt::format("{:.0f}", f.donations), fmt::format("{:.1f}", f.tree_bytes / 1024)});
};
row("random, first touch", last.first_touch);
row("random, interleaved", last.interleaved);
row("blocks by hand", last.by_hand);
for (unsigned i = 0; i != iterations; ++i) row(fmt::format("relaxed, iteration {}", i + 1), last.relaxed[i]);
row("then strict_ordered", last.ordered);
print(t);
write_plot(wanted, "Heat along steal trees, 1 to 80 workers (constrained work stealing, Fig. 4)", {panel});
}

}  // namespace papers
