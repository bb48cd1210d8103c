// bench_graph_order [--quick] [--workers LIST] [CIRCUIT.v ...]: how long graphs take on simulated workers, by the order in which ready
// tasks begin. README.md has the figures.
#include <heist/policy.hpp>
#include <heist/simulate.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "../workers.hpp"
#include "list_schedule.hpp"

namespace {

namespace sim = heist::sim;

/// The mean over seeds, as a multiple of what no schedule can beat: the work divided by the workers, or the span.
double simulated(sim::program const& p, std::uint32_t workers, sim::node_order order, unsigned seeds) {
  double sum = 0;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    sim::options wanted;
    wanted.workers = workers;
    wanted.seed = seed;
    wanted.nodes = order;
    sum += static_cast<double>(heist::simulate<heist::policy::random>(p, wanted).makespan);
  }
  return sum / seeds;
}

void row(graph_order::graph const& g, unsigned seeds, std::vector<std::size_t> const& counts) {
  sim::program const p = g.program();
  for (std::size_t const count : counts) {
    auto const workers = static_cast<std::uint32_t>(count);
    double const bound = std::max(static_cast<double>(p.span()), static_cast<double>(p.work()) / workers);
    std::printf("| %-16s | %7zu | %3u |", g.name.c_str(), g.work.size(), workers);
    for (bool const by_rank : {false, true})
      std::printf(" %5.3f |", static_cast<double>(graph_order::list_schedule(g, workers, by_rank)) / bound);
    for (auto const order :
         {sim::node_order::connected, sim::node_order::longest_by_count, sim::node_order::longest_by_work,
          sim::node_order::urgent_by_count, sim::node_order::urgent_by_work})
      std::printf(" %5.3f |", simulated(p, workers, order, seeds) / bound);
    std::printf("\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  bool quick = false;
  std::string list = "4,16,64,128";  // simulated
  std::vector<std::string> circuits;
  for (int i = 1; i < count; ++i) {
    if (std::string_view{arguments[i]} == "--quick") {
      quick = true;
    } else if (std::string_view{arguments[i]} == "--workers" && i + 1 < count) {
      list = arguments[++i];
    } else {
      circuits.emplace_back(arguments[i]);
    }
  }
  auto const workers = bench::worker_list(list);
  std::printf(
      "| graph            |   nodes |   P | first | HEFT  | conn. | count | work  | u.cnt | u.wrk |\n"
      "|---|---|---|---|---|---|---|---|---|---|\n");
  unsigned const seeds = quick ? 1 : 5;
  row(graph_order::cholesky(quick ? 6 : 40), seeds, workers);
  row(graph_order::lu(quick ? 6 : 32), seeds, workers);
  for (auto const& file : circuits) row(graph_order::circuit(file), seeds, workers);
  row(graph_order::layers(quick ? 10 : 60, quick ? 20 : 64, 1), seeds, workers);
  row(graph_order::layers(quick ? 10 : 60, quick ? 20 : 256, 2), seeds, workers);
  return 0;
} catch (std::exception const& e) {
  std::fprintf(stderr, "bench_graph_order: %s\n", e.what());
  return 1;
}
