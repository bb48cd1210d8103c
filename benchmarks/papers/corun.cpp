// Measures idle policies under load: the CPU use and the weighted speedup of processes that run together. These are
// Fig. 3 and 5 of "An Efficient Work-Stealing Scheduler for Task Dependency Graph" (Lin, Huang and Wong).
#include <heist/heist.hpp>
#include <heist/topology.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>  // sort
#include <chrono>
#include <cstdlib>  // getloadavg
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "../graph/probes.hpp"
#include "../workers.hpp"
#include "corun_child.hpp"
#include "energy.hpp"
#include "idle_policies.hpp"
#include "report.hpp"

namespace {

using namespace papers;

struct options : request {
  double seconds = 0.5;
  std::size_t workers = 0;  ///< of each process in the present section
  std::size_t nodes = std::size_t{1} << 19;
  std::vector<std::size_t> copies{1, 2, 4, 8};
  std::string powercap = "/sys/class/powercap";
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Figures of copies that ran together, per second.
struct outcome {
  double used = 0;            ///< CPU seconds of all copies
  double wanted = 0;          ///< `used` plus the seconds that their threads waited for a CPU
  std::vector<double> rates;  ///< runs of each copy
  double joules = 0;          ///< of the processor packages, everything else on the machine included; 0: not readable
};

outcome run_together(options const& o, std::string const& policy, std::string_view name, std::size_t copies) {
  std::vector<bench::child_process> children;
  for (std::size_t i = 0; i < copies; ++i)
    children.emplace_back(std::vector<std::string>{"--child", policy, std::string{name}, fmt::format("{}", o.nodes),
                                                   fmt::format("{}", o.workers), fmt::format("{}", o.seconds)});
  for (auto& child : children) child.number();
  energy_meter const energy{o.powercap};
  auto const begin = std::chrono::steady_clock::now();
  for (auto& child : children) child.say("go");
  outcome result;
  for (auto& child : children) {
    double const runs = child.number(), seconds = child.number(), cpu = child.number(), has_waited = child.number();
    result.rates.push_back(runs / seconds);
    result.used += cpu / seconds;
    result.wanted += (cpu + has_waited) / seconds;
  }
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
  result.joules = energy.joules().value_or(0) / took.count();
  return result;
}

/// Figures of one policy and one number of copies, a value for each round.
struct rounds {
  std::vector<double> used, wanted, speedup, rate_alone;
  std::vector<double> per_run;  ///< CPU seconds of a run
  std::vector<double> joules;   ///< of a run; 0: not readable
};

/// The rounds of each policy and each number of copies. A weighted speedup is the sum of the copies' speeds together,
/// divided by the speed of one copy alone under the same policy. The policies take turns.
std::vector<std::vector<rounds>> measure(options const& o, std::string_view name,
                                         std::vector<std::size_t> const& copies) {
  auto const policies = idle_policy_names();
  std::vector<std::vector<rounds>> all(policies.size(), std::vector<rounds>(copies.size()));
  for (unsigned round = 0; round < o.rounds; ++round) {
    for (std::size_t p = 0; p < policies.size(); ++p) {
      outcome const alone = run_together(o, policies[p], name, 1);
      for (std::size_t c = 0; c < copies.size(); ++c) {
        outcome const together = copies[c] == 1 ? alone : run_together(o, policies[p], name, copies[c]);
        double speedup = 0;
        for (double const rate : together.rates) speedup += rate / alone.rates[0];
        all[p][c].used.push_back(together.used);
        all[p][c].wanted.push_back(together.wanted);
        all[p][c].speedup.push_back(speedup);
        all[p][c].rate_alone.push_back(alone.rates[0]);
        all[p][c].per_run.push_back(alone.used / alone.rates[0]);
        all[p][c].joules.push_back(alone.joules / alone.rates[0]);
      }
    }
  }
  return all;
}

/// Fig. 3: the CPUs that one process asks for.
panel one_process(options const& o) {
  heading(fmt::format("Adaptive paper, Fig. 3: CPUs that one process of {} workers asks for", o.workers));
  auto const policies = idle_policy_names();
  std::vector<std::string> heads{"workload"};
  for (auto const& p : policies) heads.push_back(p);
  for (auto const& p : policies) heads.push_back("CPU ms of a run, " + p.substr(0, p.find(' ')));
  bool const has_energy = energy_meter{o.powercap}.joules().has_value();
  if (has_energy) {
    for (auto const& p : policies) heads.push_back("mJ of a run, " + p.substr(0, p.find(' ')));
  }
  table t{heads};
  bar_panel bars{"CPUs that one process asks for", "CPUs", policies, {}};
  for (std::size_t const i : {std::size_t{0}, built_chain, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
    auto const all = measure(o, workloads[i].name, {1});
    std::vector<std::string> cells{std::string{workloads[i].name}};
    std::vector<double> values;
    for (auto const& of_policy : all) values.push_back(median(of_policy[0].wanted));
    for (double const v : values) cells.push_back(fmt::format("{:.2f}", v));
    for (auto const& of_policy : all) cells.push_back(fmt::format("{:.2f}", 1e3 * median(of_policy[0].per_run)));
    if (has_energy) {
      for (auto const& of_policy : all) cells.push_back(fmt::format("{:.2f}", 1e3 * median(of_policy[0].joules)));
    }
    bars.groups.emplace_back(workloads[i].name, values);
    t.add(cells);
  }
  print(t);
  fmt::print(
      "\nPaper, chain, 4 to 40 cores: ABP grows with the cores, MBWS about 2.0, adaptive about 1.2; matmul: alike. "
      "\"Built\": one thread builds\nthe chain anew for each run, and lets it go, which the paper's whole processes do "
      "as well.\n"
      "A thread asks for a CPU while it runs and while it waits for one: on a machine of its own, what it uses. With "
      "other\n"
      "work on the machine that says little, and the CPU time of a run more.\n{}",
      has_energy ? "Energy is that of the processor packages, other programs included (powercap).\n"
                 : "Energy (Fig. 5, left) cannot be read here: powercap has no counter that this user may read.\n");
  return bars;
}

/// Fig. 5, right: the weighted speedup of several processes that all use all CPUs.
std::vector<panel> many_processes(options const& o) {
  std::vector<panel> panels;
  auto const policies = idle_policy_names();
  constexpr std::string_view paper[2][5] = {{"1.9", "4.36", "4.36", "6.6", ""}, {"1.49", "1.95", "1.95", "1.89", ""}};
  for (std::size_t const i : {4, 5}) {
    workload const& w = workloads[i];
    heading(
        fmt::format("Adaptive paper, Fig. 5: weighted speedup (CPUs used) of copies of \"{}\", {}", w.name, w.what));
    auto const all = measure(o, w.name, o.copies);
    std::vector<std::string> heads{"policy"};
    for (std::size_t const c : o.copies) heads.push_back(fmt::format("{} cop{}", c, c == 1 ? "y" : "ies"));
    heads.emplace_back("runs/s of 1");
    heads.emplace_back(i == 4 ? "paper, 8 x c6288, 40 cores" : "paper, 8 x b19, 40 cores");
    table t{heads};
    line_panel lines{fmt::format("{}: weighted speedup", w.name), "processes", "weighted speedup", false, {}};
    for (std::size_t p = 0; p < policies.size(); ++p) {
      std::vector<std::string> cells{policies[p]};
      line l{policies[p], {}};
      for (std::size_t c = 0; c < o.copies.size(); ++c) {
        double const speedup = median(all[p][c].speedup);
        cells.push_back(fmt::format("{:.2f} ({:.2f})", speedup, median(all[p][c].used)));
        l.points.emplace_back(o.copies[c], speedup);
      }
      cells.push_back(fmt::format("{:.1f}", median(all[p][0].rate_alone)));
      cells.emplace_back(paper[i - 4][p]);
      t.add(cells);
      lines.lines.push_back(l);
    }
    print(t);
    panels.emplace_back(lines);
  }
  return panels;
}

int as_child(char** argv) {
  int status = 1;
  for_each_idle_policy([&]<class Idle>(std::string const& name) {
    if (name != argv[2]) return;
    corun_child<Idle>(argv[3], std::stoul(argv[4]), std::stoul(argv[5]), std::stod(argv[6]));
    status = 0;
  });
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  o.rounds = 3;
  o.request::workers = "max";
  CLI::App app{"Idle policies under load: processes that run together, each with as many workers as there are CPUs."};
  app.add_flag("--quick", o.quick, "one short round, small graphs, at most two copies");
  app.add_option("--svg", o.svg, "write a plot to this file")->type_name("FILE");
  app.add_option("--rounds", o.rounds, "rounds in which the policies take turns; medians count")
      ->type_name("N")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--powercap", o.powercap, "the folder with the counters of energy")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_option("--seconds", o.seconds, "how long each point is measured in each round")
      ->type_name("S")
      ->check(CLI::Range(0.001, 60.0))
      ->capture_default_str();
  bench::add_workers_option(app, o.request::workers, "; of each process");
  app.add_option("--copies", o.copies, "how many processes at once (default: 1 2 4 8)")
      ->type_name("N")
      ->check(CLI::Range(1, 64));
  app.footer("With the defaults it takes about two minutes.");
  try {
    if (argc == 7 && std::string_view{argv[1]} == "--child") return as_child(argv);
    app.parse(argc, argv);
    std::size_t const cpus = heist::topology::usable_cpus(heist::topology::this_machine());
    if (o.quick) {
      o.rounds = 1;
      o.seconds = 0.005;
      o.nodes = 1 << 12;
      o.copies = {1, 2};
    }
    double load = 0;
    ::getloadavg(&load, 1);
    fmt::print("{} CPUs, load {:.2f}; medians of {} rounds of {:g} s\n", cpus, load, o.rounds, o.seconds);
    std::vector<panel> panels;
    for (std::size_t const workers : bench::worker_list(o.request::workers)) {
      o.workers = workers;
      panels.emplace_back(one_process(o));
      for (auto& p : many_processes(o)) panels.push_back(p);
    }
    write_plot(o, "Idle policies under load", panels);
    return 0;
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}
