// bench_sync: what tasks cost that lock, wait and hand values on, beside other libraries' primitives.
#include "rows.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include <exception>
#include <fstream>
#include <optional>

#include "../workers.hpp"

namespace {

struct options {
  std::string workers = "1,2,4..max";
  int rounds = 7;
  bool quick = false;
  std::string only, json;
  std::vector<std::string> without;
};

std::vector<std::function<bench::peer()>> peers_for(std::size_t workers) {
  std::vector<std::function<bench::peer()>> all;
  all.push_back([workers] { return bench::make_heist(workers); });
  all.push_back([] { return bench::make_std(); });
#ifdef HEIST_BENCH_BOOST_FIBER
  all.push_back([workers] { return bench::make_boost_fiber(workers, bench::idle_threads::spin); });
  all.push_back([workers] { return bench::make_boost_fiber(workers, bench::idle_threads::sleep); });
#endif
#ifdef HEIST_BENCH_TOOMANYCOOKS
  all.push_back([workers] { return bench::make_toomanycooks(workers); });
#endif
  return all;
}
std::vector<std::string> names_of_peers() {
  std::vector<std::string> names{"heist", "std"};
#ifdef HEIST_BENCH_BOOST_FIBER
  names.insert(names.end(), {"Boost.Fiber", "B.F., sleeping"});
#endif
#ifdef HEIST_BENCH_TOOMANYCOOKS
  names.push_back("TooManyCooks");
#endif
  return names;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// One measurement in a process of its own, so that no library's idle threads run beside another one. Nothing: the library
/// has no such row.
std::optional<double> measure_separately(std::function<bench::peer()> const& make, std::size_t row,
                                         std::size_t operations) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error{"no pipe to a child process"};
  ::pid_t const child = ::fork();
  if (child < 0) throw std::runtime_error{"no child process"};
  if (child == 0) {
    ::close(ends[0]);
    int status = 0;
    try {
      double value = -1;
      if (bench::peer const p = make(); p.rows[row]) {
        // Memory, threads and caches are there after a short round. A long one takes about a second at most.
        std::size_t const few = std::max<std::size_t>(operations / 20, 1000);
        auto const start_time = bench::clock::now();
        p.rows[row](few);
        double const each = bench::ns_since(start_time, bench::clock::now()) / static_cast<double>(few);
        operations = std::clamp(static_cast<std::size_t>(1e9 / each), few, std::max(few, operations));
        value = p.rows[row](operations);
      }
      status = ::write(ends[1], &value, sizeof value) == sizeof value ? 0 : 1;
    } catch (std::exception const& e) {
      fmt::print(stderr, "\nbench_sync: {}: {}\n", bench::rows[row].name, e.what());
      status = 1;
    }
    ::_exit(status);
  }
  ::close(ends[1]);
  double value = 0;
  bool const has_come = ::read(ends[0], &value, sizeof value) == sizeof value;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!has_come || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error{fmt::format("the measurement of '{}' has failed", bench::rows[row].name)};
  return value < 0 ? std::nullopt : std::optional{value};
}

/// All rows of all peers, which take turns: a peer, the next one, ... is a round.
nlohmann::json measure(options const& o, std::size_t workers) {
  nlohmann::json results = nlohmann::json::array();
  auto const peers = peers_for(workers);
  auto const names = names_of_peers();
  for (std::size_t i = 0; i != std::size(bench::rows); ++i) {
    bench::row const& r = bench::rows[i];
    if (std::string{r.name}.find(o.only) == std::string::npos) continue;
    std::vector<std::vector<double>> all(peers.size());
    for (int round = 0; round != o.rounds; ++round) {
      for (std::size_t p = 0; p != peers.size(); ++p) {
        if (std::find(o.without.begin(), o.without.end(), names[p]) != o.without.end()) continue;
        fmt::print(stderr, "\r{} workers, row {} of {}, round {} of {}, {:14}", workers, i + 1, std::size(bench::rows),
                   round + 1, o.rounds, names[p]);
        auto const value =
            measure_separately(peers[p], i, o.quick ? std::max<std::size_t>(r.operations / 100, 1000) : r.operations);
        if (value) all[p].push_back(*value);
      }
    }
    for (std::size_t p = 0; p != peers.size(); ++p) {
      if (all[p].empty()) continue;
      auto const [least, most] = std::minmax_element(all[p].begin(), all[p].end());
      results.push_back({{"workers", workers},
                         {"library", names[p]},
                         {"row", r.name},
                         {"unit", r.unit},
                         {"median", median_of(all[p])},
                         {"least", *least},
                         {"most", *most}});
    }
  }
  fmt::print(stderr, "\r{:78}\r", "");
  return results;
}

std::string visible(double value) {
  return value < 100 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

void print_table(nlohmann::json const& results, std::size_t workers) {
  auto const libraries = names_of_peers();
  fmt::print("{:36} {:>4}", fmt::format("{} workers", workers), "");
  for (auto const& name : libraries) fmt::print(" {:>14}", name);
  fmt::print(" {:>16}\n", "heist / the best");
  for (bench::row const& row : bench::rows) {
    std::vector<std::optional<double>> of(libraries.size());
    for (auto const& r : results) {
      if (r["row"] != row.name) continue;
      auto const library = std::find(libraries.begin(), libraries.end(), r["library"].get<std::string>());
      of[static_cast<std::size_t>(library - libraries.begin())] = r["median"];
    }
    if (!of[0]) continue;
    double best = 1e300;
    for (std::size_t i = 1; i != of.size(); ++i) best = of[i] ? std::min(best, *of[i]) : best;
    fmt::print("{:36} {:>4}", row.name, row.unit);
    for (auto const& value : of) fmt::print(" {:>14}", value ? visible(*value) : "");
    fmt::print(" {:>16}\n", best < 1e300 ? fmt::format("{:.2f}", *of[0] / best) : "");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) try {
  options o;
  CLI::App app{"What tasks cost that lock, wait and hand values on: medians, in ns for each operation"};
  bench::add_workers_option(app, o.workers, "; std has a thread for each task");
  app.add_option("--rounds", o.rounds, "how often each row is measured, the libraries in turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--only", o.only, "only the rows whose name contains this");
  app.add_option("--without", o.without, "names of libraries that are left out")->delimiter(';');
  app.add_flag("--quick", o.quick, "a hundredth of the operations, 1 round: to see that it works");
  app.add_option("--json", o.json, "a file for the results");
  CLI11_PARSE(app, argc, argv);
  if (o.quick) o.rounds = 1;

  fmt::print("a section takes {:.1f} ns\n", bench::fit_section(18));
  std::fflush(stdout);
  nlohmann::json results = nlohmann::json::array();
  for (std::size_t const w : bench::worker_list(o.workers)) {
    nlohmann::json const of_w = measure(o, w);
    print_table(of_w, w);
    results.insert(results.end(), of_w.begin(), of_w.end());
  }
  if (o.json.empty()) return 0;
  std::ofstream out{o.json};
  out << results.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error{fmt::format("{} cannot be written", o.json)};
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "bench_sync: {}\n", e.what());
  return 1;
}
