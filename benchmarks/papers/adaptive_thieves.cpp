// Adaptive scheduler (Lin, Huang and Wong), Fig. 3: the number of awake thieves over time, and the CPUs in use. The
// graphs have no, some and much parallelism.
#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "idle_policies.hpp"

namespace papers {
namespace {

struct graph {
  std::string name;
  heist::sim::program tasks;
};

std::vector<graph> graphs(request const& wanted) {
  std::uint32_t const nodes = wanted.quick ? 1000 : 100'000, depth = wanted.quick ? 9 : 16;
  auto const work = heist::sim::fixed(200);
  return {{"chain", heist::sim::chain({.nodes = nodes, .work = work})},
          {"tree", heist::sim::tree_graph({.depth = depth, .work = work})},
          {"random graph", heist::sim::random_graph({.nodes = nodes, .degree = 4, .work = work, .seed = wanted.seed})}};
}

/// Means over a run.
struct use {
  double busy = 0, thieves = 0, milliseconds = 0;
  std::uint64_t sleeps = 0;
  std::vector<heist::sim::sample> series;
};

template <class Idle>
use run(request const& wanted, graph const& g, std::uint32_t workers) {
  using policy = heist::policy::with_idle<heist::policy::random, Idle>;
  auto const r = heist::simulate<policy>(g.tasks, {.workers = workers, .seed = wanted.seed});
  double const all = static_cast<double>(r.makespan), asleep = static_cast<double>(r.time.asleep) / all;
  double const thieves = static_cast<double>(r.time.search + r.time.steal) / all;
  return {workers - asleep - thieves, thieves, 1e-6 * all, r.sleeps, r.series};
}

}  // namespace

void adaptive_thieves(request const& wanted) {
  std::vector<std::uint32_t> const worker_counts =
      wanted.quick ? std::vector<std::uint32_t>{4} : std::vector<std::uint32_t>{4, 16, 40};
  std::uint32_t const most = worker_counts.back();
  fmt::print("Adaptive scheduler, Fig. 3: awake thieves and CPUs, means over a run; tasks of 200 ns\n");
  std::vector<panel> panels;
  for (auto const& g : graphs(wanted)) {
    heading(g.name);
    std::vector<std::string> heads{"idle policy"};
    for (auto const w : worker_counts) heads.push_back(fmt::format("thieves of {}", w));
    for (auto const w : worker_counts) heads.push_back(fmt::format("CPUs of {}", w));
    heads.insert(heads.end(), {fmt::format("ms on {}", most), fmt::format("sleeps on {}", most)});
    bool const is_chain = g.name == "chain";
    if (is_chain) heads.emplace_back("paper: CPUs, 4 to 40 cores");
    table t{heads};
    line_panel lines{fmt::format("{}, {} workers: awake thieves", g.name, most), "ms", "thieves", false, {}};
    std::size_t row = 0;
    for_each_idle_policy([&]<class Idle>(std::string const& name) {
      constexpr char const* paper[] = {"grow with the cores", "about 2.0", "about 2.0", "about 1.2", ""};
      std::vector<use> uses;
      for (auto const w : worker_counts) uses.push_back(run<Idle>(wanted, g, w));
      std::vector<std::string> cells{name};
      for (auto const& u : uses) cells.push_back(fmt::format("{:.2f}", u.thieves));
      for (auto const& u : uses) cells.push_back(fmt::format("{:.2f}", u.thieves + u.busy));
      cells.push_back(fmt::format("{:.3f}", uses.back().milliseconds));
      cells.push_back(fmt::format("{}", uses.back().sleeps));
      if (is_chain) cells.emplace_back(paper[row]);
      t.add(cells);
      line l{name, {}};
      for (auto const& s : uses.back().series)
        l.points.emplace_back(1e-6 * static_cast<double>(s.time), static_cast<double>(s.searching));
      lines.lines.push_back(l);
      ++row;
    });
    print(t);
    panels.emplace_back(lines);
  }
  write_plot(wanted, "Awake thieves over time (adaptive scheduler)", panels);
}

}  // namespace papers
