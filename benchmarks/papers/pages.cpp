// CAB and CATS with pages: where each page of memory is, what a line from another socket costs, and the bandwidth of sockets.
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <vector>

#include "commands.hpp"
#include "opteron.hpp"

namespace papers {
namespace {

using heist::sim::page_placement;

/// Bandwidths in MB/s that make links scarce: 16 workers of a memory-bound program fetch 7 to 11 GB/s without limits, and
/// three quarters of interleaved pages are far.
constexpr std::uint64_t node_bandwidth = 4000, link_bandwidth = 1000;
/// Cost of a line from the memory of another socket in ns, where the table has one only.
constexpr std::uint32_t usual_far = 150;

/// Where pages are, and what a far line costs in ns.
struct placement {
  std::string name;
  heist::sim::numa pages;
  std::uint32_t far_ns;
};

std::vector<placement> placements(request const& wanted) {
  heist::sim::numa const first{.pages = page_placement::first_touch}, turns{.pages = page_placement::interleaved};
  auto const scarce = [](heist::sim::numa pages) {
    pages.node_bandwidth = node_bandwidth;
    pages.link_bandwidth = link_bandwidth;
    return pages;
  };
  std::vector<placement> all{{"near, no limit", {}, 0}};
  for (std::uint32_t const far_ns : {110u, usual_far, 250u}) {
    if (wanted.quick && far_ns != usual_far) continue;
    all.push_back({"first touch", first, far_ns});
    all.push_back({"interleaved", turns, far_ns});
    if (far_ns != usual_far) continue;
    all.push_back({"first touch, scarce", scarce(first), far_ns});
    all.push_back({"interleaved, scarce", scarce(turns), far_ns});
  }
  return all;
}

struct plate {
  std::string name;
  heist::sim::program tasks;
  char const* paper;
};

/// Adds a row: the savings of the published rule, and those with the memory of squads.
template <class Tiers>
void add_row(request const& wanted, plate const& p, placement const& where, table& t, bar_panel& bars) {
  using namespace opteron;
  bool const all_near = where.pages.pages == page_placement::ignored;
  setting at;
  at.of_machine.far_memory = where.far_ns;
  at.pages = where.pages;
  auto const base = mean<spinning<cilk>>(wanted, p.tasks, at);
  auto const literal = saved_by(mean<published<spinning<Tiers>>>(wanted, p.tasks, at), base);
  auto const with_memory = saved_by(mean<spinning<Tiers>>(wanted, p.tasks, at), base);
  t.add({p.name, where.name, all_near ? "" : fmt::format("{}", where.far_ns), fmt::format("{:.2f}", 1e-6 * base.time),
         percent(literal.time), percent(with_memory.time), percent(with_memory.l3), p.paper});
  if (all_near || where.far_ns == usual_far)
    bars.groups.emplace_back(p.name + ", " + where.name,
                             std::vector<double>{100 * literal.time, 100 * with_memory.time});
}

template <class Tiers>
void show(request const& wanted, std::string const& name, std::vector<plate> const& plates,
          std::vector<panel>& panels) {
  heading(name);
  table t{{"program", "pages", "far line (ns)", "time, Cilk (ms)", "time saved", "with memory",
           "L3 misses, with memory", "paper, time"}};
  bar_panel bars{name + ": time saved", "%", {"as published", "with memory"}, {}};
  for (auto const& p : plates) {
    for (auto const& where : placements(wanted)) add_row<Tiers>(wanted, p, where, t, bars);
  }
  print(t);
  panels.emplace_back(bars);
}

}  // namespace

void pages(request const& wanted) {
  fmt::print(
      "CAB and CATS with pages of 4 KiB in the memory of sockets. A near line costs 90 ns; means of {} seeds, thieves "
      "spin.\nScarce: {} MB/s for a socket's memory, {} MB/s for its links; otherwise no limit. \"First touch\": by "
      "the simulated run itself.\n",
      wanted.rounds, node_bandwidth, link_bandwidth);
  std::uint32_t const small = wanted.quick ? 128 : 1024, large = wanted.quick ? 128 : 4096,
                      steps = wanted.quick ? 2 : 20;
  auto const square = [&](std::uint32_t n) {
    return opteron::shape{.rows = n, .columns = n, .leaf_rows = 8, .steps = steps};
  };
  auto const narrow = [&](std::uint32_t rows) {
    return opteron::shape{
        .rows = rows, .columns = wanted.quick ? 64u : 512u, .leaf_rows = 8, .steps = steps, .element_bytes = 16};
  };
  std::vector<panel> panels;
  show<opteron::cab>(wanted, "CAB",
                     {{"heat 1024 x 1024", opteron::heat(square(small)), "10 to 55 %"},
                      {"SOR 1024 x 1024", opteron::sor(square(small)), "10 to 55 %"},
                      {"heat 4096 x 4096", opteron::heat(square(large)), "14 %"},
                      {"SOR 4096 x 4096", opteron::sor(square(large)), "13.6 %"}},
                     panels);
  show<opteron::cats>(wanted, "CATS",
                      {{"heat 1024 x 512", opteron::heat(narrow(small)), "40.4 %"},
                       {"SOR 1024 x 512", opteron::sor(narrow(small)), "56.1 %"},
                       {"heat 8192 x 512", opteron::heat(narrow(2 * large)), "12.3 %"},
                       {"SOR 8192 x 512", opteron::sor(narrow(2 * large)), "21.1 %"}},
                      panels);
  write_plot(wanted, "CAB and CATS, and where pages are", panels);
}

}  // namespace papers
