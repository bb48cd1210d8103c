// Constrained work stealing, Fig. 4: heat on 1 to 80 workers, and all six programs on 80, with data that follows the
// schedule and data that does not.
#include <fmt/format.h>

#include <algorithm>  // max_element
#include <cstddef>    // size_t
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "e7_8860.hpp"
#include "e7_programs.hpp"

namespace papers {
namespace {

using heist::replay_mode;
using heist::sim::page_placement;
using heist::sim::report;
using heist::sim::ticks;

constexpr unsigned iterations = 5;  // the paper's

/// Figures of a step of the kernel.
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
  std::uint64_t links = e7_8860::link_bandwidth;
  figures first_touch, interleaved, by_hand, along_initializer, relaxed[iterations], ordered;
};

using e7_8860::block_tree;
using e7_8860::program_pair;

/// A program: from its trees, for one worker or with blocks placed by hand.
struct paper_program {
  std::string name;
  std::uint32_t blocks;
  std::function<program_pair(block_tree const&)> make;
  bool starts_with_kernel = false;  ///< the first tree is that of a run of the kernel, not that of the initialiser
  std::string paper = {};           ///< what its text says of the speedup on 80 threads
};

/// The tree that the next iteration follows.
heist::steal_tree const& followed(program_pair const& p, report const& kernel) {
  return kernel.trees.at(kernel.trees.size() - p.followed);
}

/// Simulates all schedules with one seed, and adds their figures, times `weight`, to `all`.
void measure(program_pair const& p, program_pair const& placed, heist::steal_tree const& by_hand_tree,
             bool starts_with_kernel, std::uint64_t seed, double weight, point& all) {
  e7_8860::setting const plain{.workers = all.workers, .seed = seed, .links = all.links};
  auto const initialised = e7_8860::simulate(p.initializer, plain);

  auto wanted = plain;
  wanted.node_map = &*initialised.node_map;
  wanted.seed = seed + 1000;  // the kernel must not repeat the initialiser's steals
  auto const random = e7_8860::simulate(p.steps, wanted);
  add(all.first_touch, figures_of(random), weight);

  wanted.node_map = nullptr;
  wanted.pages = page_placement::interleaved;
  add(all.interleaved, figures_of(e7_8860::simulate(p.steps, wanted)), weight);

  wanted = plain;
  wanted.follow = &by_hand_tree;
  wanted.mode = replay_mode::strict_unordered;
  auto const by_hand = e7_8860::simulate(placed.initializer, wanted);
  wanted.node_map = &*by_hand.node_map;
  add(all.by_hand, figures_of(e7_8860::simulate(placed.steps, wanted)), weight);

  heist::steal_tree tree = initialised.trees.at(0);
  heist::sim::page_node_map node_map = *initialised.node_map;
  wanted = plain;
  wanted.follow = &tree;
  wanted.node_map = &node_map;
  wanted.mode = replay_mode::strict_unordered;
  add(all.along_initializer, figures_of(e7_8860::simulate(p.steps, wanted)), weight);

  // Section V: the kernel follows the last tree (relaxed). Then the initialiser follows the kernel's new tree.
  if (starts_with_kernel) {
    tree = followed(p, random);
    wanted.node_map = nullptr;
    wanted.mode = replay_mode::strict_ordered;
    node_map = *e7_8860::simulate(p.initializer, wanted).node_map;
  }
  for (figures& iteration : all.relaxed) {
    wanted.node_map = &node_map;
    wanted.mode = replay_mode::relaxed;
    ++wanted.seed;
    auto const kernel = e7_8860::simulate(p.steps, wanted);
    add(iteration, figures_of(kernel), weight);
    tree = followed(p, kernel);
    wanted.node_map = nullptr;
    wanted.mode = replay_mode::strict_ordered;
    node_map = *e7_8860::simulate(p.initializer, wanted).node_map;
  }
  wanted.node_map = &node_map;
  add(all.ordered, figures_of(e7_8860::simulate(p.steps, wanted)), weight);
}

/// Simulates all schedules on `workers` workers. `p` has the same tree of tasks for every number of workers.
point measure(request const& wanted, paper_program const& of, program_pair const& p, std::uint32_t workers,
              std::uint64_t links = e7_8860::link_bandwidth) {
  point all;
  all.workers = workers;
  all.links = links;
  block_tree const by_hand{of.blocks, workers};
  auto const placed = of.make(by_hand);
  for (unsigned round = 0; round < wanted.rounds; ++round)
    measure(p, placed, by_hand.by_hand(), of.starts_with_kernel, wanted.seed + round, 1.0 / wanted.rounds, all);
  return all;
}

e7_8860::plate_shape plate_for(request const& wanted, std::int64_t columns_of_block = 1024) {
  return {.rows = wanted.quick ? 256 : 4096, .columns = 4096, .columns_of_block = columns_of_block};
}

paper_program heat_for(request const& wanted) {
  auto const plate = plate_for(wanted);
  return {"heat", plate.blocks(), [plate](block_tree const& tree) { return e7_8860::heat(plate, tree); }, false,
          "up to 46"};
}

/// Table I at 1/64 of its size.
std::vector<paper_program> six_programs(request const& wanted) {
  auto const plate = plate_for(wanted), narrow = plate_for(wanted, 512);
  std::uint32_t const less = wanted.quick ? 16 : 1;
  return {
      heat_for(wanted),
      {"fdtd", plate.blocks(), [plate](block_tree const& tree) { return e7_8860::fdtd(plate, tree); }, false,
       "up to 46"},
      {"floyd-warshall", narrow.blocks(),
       [narrow](block_tree const& tree) { return e7_8860::floyd_warshall(narrow, tree); }, false, "up to 46"},
      {"cg", 2048 / less, [less](block_tree const& tree) { return e7_8860::cg((std::int64_t{1} << 15) / less, tree); },
       true, "random, interleaved: more than 20"},
      {"mg", 4096 / less, [](block_tree const& tree) { return e7_8860::mg(32 << 10, tree); }, false,
       "unordered along the finest level's tree: 30.7"},
      {"prefix", 512 / less, [](block_tree const& tree) { return e7_8860::prefix(8 << 10, tree); }, false,
       "unordered along the initialiser's tree: 1.8 x random"}};
}

struct curve {
  std::string name;
  figures const& (*of)(point const&);
  std::string paper;  ///< its figure for 80 workers
};

figures const& first_touch(point const& k) {
  return k.first_touch;
}
figures const& interleaved(point const& k) {
  return k.interleaved;
}
figures const& by_hand(point const& k) {
  return k.by_hand;
}
figures const& relaxed(point const& k) {
  return k.relaxed[iterations - 1];
}
figures const& ordered(point const& k) {
  return k.ordered;
}

std::vector<curve> curves() {
  return {{"random, first touch", &first_touch, "about 15"},
          {"random, interleaved", &interleaved, "about 15"},
          {"blocks by hand", &by_hand, "up to 46"},
          {"relaxed, 5th time", &relaxed, "up to 2.5 x first touch"},
          {"then strict_ordered", &ordered, ""}};
}

void show_speedups(std::vector<point> const& points, line_panel& panel) {
  heading("Speedup");
  double const serial = points[0].first_touch.ns;
  std::vector<std::string> heads{"workers"};
  auto const all = curves();
  for (curve const& c : all) heads.push_back(c.name);
  heads.emplace_back("strict_ordered / first touch");
  table speedups{heads};
  for (curve const& c : all) panel.lines.push_back({c.name, {}});
  for (point const& k : points) {
    std::vector<std::string> cells{fmt::format("{}", k.workers)};
    for (std::size_t i = 0; i < all.size(); ++i) {
      double const speedup = serial / all[i].of(k).ns;
      cells.push_back(fmt::format("{:.1f}", speedup));
      panel.lines[i].points.emplace_back(k.workers, speedup);
    }
    cells.push_back(fmt::format("{:.2f}", k.first_touch.ns / k.ordered.ns));
    speedups.add(cells);
  }
  std::vector<std::string> paper{"paper, 80"};
  for (curve const& c : all) paper.push_back(c.paper);
  paper.emplace_back("up to 2.5");
  speedups.add(paper);
  print(speedups);
}

void show_step(point const& last) {
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
}

}  // namespace

void replay_fig4(request const& wanted) {
  auto const heat = heat_for(wanted);
  auto const p = heat.make({heat.blocks, 1});
  fmt::print(
      "Constrained work stealing, Fig. 4: heat, {} blocks, 8 x 10 E7-8860; everything 1/{} of the paper's size;\n"
      "speedup over one worker; means of {} seeds\n",
      heat.blocks, e7_8860::scale, wanted.rounds);
  std::vector<std::uint32_t> counts{1, 2, 4, 6, 8, 10, 20, 30, 40, 50, 60, 70, 80};
  if (wanted.quick) counts = {1, 20};
  std::vector<point> points;
  for (std::uint32_t const workers : counts) points.push_back(measure(wanted, heat, p, workers));
  line_panel panel{"heat", "workers", "speedup", false, {}};
  show_speedups(points, panel);
  show_step(points.back());
  write_plot(wanted, "Heat along steal trees, 1 to 80 workers (constrained work stealing, Fig. 4)", {panel});
}

void replay_links(request const& wanted) {
  auto const heat = heat_for(wanted);
  auto const p = heat.make({heat.blocks, 1});
  std::uint32_t const workers = wanted.quick ? 20 : 80;
  fmt::print(
      "Constrained work stealing, Fig. 4: heat on {} workers, speedup over one worker, for several bandwidths of what "
      "a\n"
      "node sends to others; means of {} seeds\n\n",
      workers, wanted.rounds);
  double const serial = measure(wanted, heat, p, 1).first_touch.ns;
  std::vector<std::string> heads{"MB/s"};
  for (curve const& c : curves()) heads.push_back(c.name);
  heads.emplace_back("relaxed / first touch");
  table t{heads};
  line_panel panel{"heat", "MB/s", "speedup", true, {}};
  for (curve const& c : curves()) panel.lines.push_back({c.name, {}});
  for (std::uint64_t const links : {3'250u, 6'500u, 9'000u, 13'000u, 19'000u, 38'400u}) {
    point const k = measure(wanted, heat, p, workers, links);
    std::vector<std::string> cells{fmt::format("{}", links)};
    for (std::size_t i = 0; i < panel.lines.size(); ++i) {
      double const speedup = serial / curves()[i].of(k).ns;
      cells.push_back(fmt::format("{:.1f}", speedup));
      panel.lines[i].points.emplace_back(links, speedup);
    }
    cells.push_back(fmt::format("{:.2f}", k.first_touch.ns / relaxed(k).ns));
    t.add(cells);
  }
  print(t);
  write_plot(wanted, "Heat on 80 workers and the bandwidth of links", {panel});
}

void replay_six(request const& wanted) {
  std::uint32_t const workers = wanted.quick ? 20 : 80;
  fmt::print(
      "Constrained work stealing, Fig. 4: six programs on {} workers, 8 x 10 E7-8860; everything 1/{} of the paper's "
      "size;\n"
      "speedup over one worker; means of {} seeds\n\n",
      workers, e7_8860::scale, wanted.rounds);
  table t{{"program", "blocks", "random, first touch", "random, interleaved", "blocks by hand",
           "unordered along the initialiser", "relaxed, 5th time", "best / first touch", "paper, on 80"}};
  bar_panel bars{"speedup", "x", {"first touch", "interleaved", "by hand", "unordered", "relaxed"}, {}};
  for (auto const& program : six_programs(wanted)) {
    auto const p = program.make({program.blocks, 1});
    double const serial = measure(wanted, program, p, 1).first_touch.ns;
    point const k = measure(wanted, program, p, workers);
    std::vector<double> speedups;
    for (figures const* f : {&k.first_touch, &k.interleaved, &k.by_hand, &k.along_initializer, &relaxed(k)})
      speedups.push_back(serial / f->ns);
    std::vector<std::string> cells{program.name, fmt::format("{}", program.blocks)};
    for (double const s : speedups) cells.push_back(fmt::format("{:.1f}", s));
    double const best = *std::max_element(speedups.begin() + 2, speedups.end());
    cells.push_back(fmt::format("{:.2f}", best / speedups[0]));
    cells.push_back(program.paper);
    t.add(cells);
    bars.groups.emplace_back(program.name, speedups);
  }
  print(t);
  write_plot(wanted, "Six programs on 80 workers (constrained work stealing, Fig. 4)", {bars});
}

}  // namespace papers
