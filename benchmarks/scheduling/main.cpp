// bench_scheduling: the makespan of programs whose bodies sleep, over its lower bound.
#include "rows.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include <exception>
#include <fstream>
#include <optional>

#include "../workers.hpp"

namespace {

using bench::costs;
using bench::peer;

struct row {
  std::string name;
  double bound;  ///< units
  std::function<void(peer const&)> run;
  bool (*has)(peer const&);
};

std::vector<row> rows_for(std::size_t workers) {
  std::vector<row> rows;
  double const w = static_cast<double>(workers);
  auto const of_costs = [&](std::string const& what, costs const& d) {
    double const bound = std::max(d.sum() / w, d.longest());
    rows.push_back({"tree, " + what, bound, [d](peer const& p) { p.tree(d); },
                    [](peer const& p) { return static_cast<bool>(p.tree); }});
    rows.push_back({"loop, " + what, bound, [d](peer const& p) { p.loop(d); },
                    [](peer const& p) { return static_cast<bool>(p.loop); }});
    rows.push_back({"tasks, " + what, bound, [d](peer const& p) { p.tasks(d); },
                    [](peer const& p) { return static_cast<bool>(p.tasks); }});
  };
  of_costs("w equal bodies", bench::even(workers));
  of_costs("4 w", bench::even(4 * workers));
  of_costs("8 w", bench::even(8 * workers));
  of_costs("4 w, triangular", bench::triangular(4 * workers));
  bench::random_graph const g{workers};
  double const work = std::accumulate(g.cost.begin(), g.cost.end(), 0.0);
  rows.push_back({"random graph of 12 w tasks", std::max(work / w, g.longest_path), [g](peer const& p) { p.graph(g); },
                  [](peer const& p) { return static_cast<bool>(p.graph); }});
  std::size_t const n = std::max<std::size_t>(1, workers / 2);
  rows.push_back({"w/2 tasks with loops of 4", std::max(16.0 * static_cast<double>(n) / w, 4.0),
                  [n](peer const& p) { p.loops_in_tasks(n); },
                  [](peer const& p) { return static_cast<bool>(p.loops_in_tasks); }});
  return rows;
}

double median_ratio(row const& r, peer const& p, int rounds) {
  std::vector<double> ratios;
  for (int k = 0; k != rounds; ++k) {
    auto const start_time = std::chrono::steady_clock::now();
    r.run(p);
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - start_time;
    ratios.push_back(took.count() / bench::unit_ms() / r.bound);
  }
  std::nth_element(ratios.begin(), ratios.begin() + ratios.size() / 2, ratios.end());
  return ratios[ratios.size() / 2];
}

/// Makers of the peers. The peers run one after the other, so that idle threads of one library do not disturb another
/// library's row.
std::vector<std::function<peer()>> peers_for(std::vector<std::string> const& policies, std::size_t workers) {
  std::vector<std::function<peer()>> all;
  for (auto const& name : policies) all.push_back([name, workers] { return bench::make_heist(name, workers); });
#ifdef HEIST_BENCH_TBB
  all.push_back([workers] { return bench::make_tbb(workers); });
#endif
#ifdef HEIST_BENCH_OPENMP
  all.push_back([workers] { return bench::make_openmp(workers); });
#endif
#ifdef HEIST_BENCH_TASKFLOW
  all.push_back([workers] { return bench::make_taskflow(workers); });
#endif
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string workers = "1,2,4..max";
  std::vector<std::string> policies{"random"};
  int rounds = 7;
  std::string json;
  CLI::App app{"The time of programs whose bodies sleep, over the lower bound max(T1 / workers, longest path)"};
  bench::add_workers_option(app, workers, "; bodies sleep, so there may be more workers than CPUs");
  app.add_option("--policies", policies, "heist's policies")->delimiter(',');
  app.add_option("--rounds", rounds, "runs of each row; the table shows their median")->check(CLI::Range(1, 1000));
  app.add_option("--unit", bench::unit_ms(), "milliseconds; bodies sleep for 1 to 8 units")
      ->check(CLI::Range(0.1, 1000.0));
  app.add_option("--json", json, "a file for the results");
  CLI11_PARSE(app, argc, argv);

  nlohmann::json results = nlohmann::json::array();
  for (std::size_t const w : bench::worker_list(workers)) {
    auto const rows = rows_for(w);
    auto const makers = peers_for(policies, w);
    std::vector<std::vector<std::optional<double>>> ratios(rows.size());
    std::vector<std::string> names;
    for (auto const& make : makers) {
      peer const p = make();
      names.push_back(p.name);
      for (std::size_t i = 0; i != rows.size(); ++i) {
        fmt::print(stderr, "\r{} workers, {}, row {} of {}    ", w, p.name, i + 1, rows.size());
        ratios[i].push_back(rows[i].has(p) ? std::optional{median_ratio(rows[i], p, rounds)} : std::nullopt);
        if (ratios[i].back())
          results.push_back({{"workers", w}, {"library", p.name}, {"row", rows[i].name}, {"ratio", *ratios[i].back()}});
      }
    }
    fmt::print(stderr, "\r{:60}\r", "");
    fmt::print("{:34}", fmt::format("{} workers", w));
    for (auto const& name : names) fmt::print(" {:>12}", name);
    fmt::print("\n");
    for (std::size_t i = 0; i != rows.size(); ++i) {
      fmt::print("{:34}", rows[i].name);
      for (auto const& ratio : ratios[i]) fmt::print(" {:>12}", ratio ? fmt::format("{:.2f}", *ratio) : "");
      fmt::print("\n");
    }
    std::fflush(stdout);
  }
  if (!json.empty()) std::ofstream{json} << results.dump(1) << '\n';
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "bench_scheduling: {}\n", e.what());
  return 1;
}
