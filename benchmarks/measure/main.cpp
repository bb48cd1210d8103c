// bench_measure: measures one family of rows, as measure.py asks for them, and writes JSON.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <exception>
#include <fstream>
#include <iostream>

#include "../workers.hpp"
#include "measuring.hpp"

namespace {

std::vector<measure::row> all_rows() {
  std::vector<measure::row> all;
  for (auto* const some : {&measure::scaling_rows, &measure::memory_rows, &measure::policy_rows,
                           &measure::cpu_policy_rows, &measure::idle_rows, &measure::forecast_rows}) {
    for (auto& r : some()) all.push_back(std::move(r));
  }
  return all;
}

nlohmann::json named(measure::row const& r) {
  return {{"family", r.family}, {"group", r.group}, {"row", r.name}, {"what", r.what}, {"unit", "ns"}};
}

void write(nlohmann::json const& j, std::string const& file) {
  if (file == "-") {
    std::cout << j.dump(1) << std::endl;
    return;
  }
  std::ofstream out{file};
  out << j.dump(1) << '\n';
  if (!out.flush()) throw std::runtime_error{fmt::format("the file {} cannot be written", file)};
}

}  // namespace

int main(int argc, char** argv) {
  measure::request o;
  std::string workers = "1,2,4..max", only, json = "-";
  CLI::App app{"Measures this machine under heist, one family of rows a call. sh cmake/measure.sh calls it for all."};
  app.require_subcommand(1);
  std::vector<CLI::App*> families;
  for (auto const& [name, what] : {std::pair{"scaling", "programs, graphs, loops and sorts from one worker to all"},
                                   {"policies", "the papers' programs under each policy"},
                                   {"idle", "wake-up latency and idle cost of each idle policy"},
                                   {"forecast", "the simulator's forecast beside the measured time"}}) {
    auto* const family = families.emplace_back(app.add_subcommand(name, what));
    bench::add_workers_option(*family, workers);
    family->add_option("--row", only, "only the row of this name")->type_name("NAME");
    family->add_option("--rounds", o.rounds, "rounds in which the variants take turns")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    family->add_option("--seconds", o.seconds, "about so long for each row")
        ->check(CLI::Range(0.0, 3600.0))
        ->capture_default_str();
    family->add_flag("--tiny", o.tiny, "problems of milliseconds, to see that everything works");
  }
  auto* const machine = app.add_subcommand("machine", "what the machine is");
  auto* const rows = app.add_subcommand("rows", "the rows of all families");
  auto* const list = app.add_subcommand("workers", "the numbers that a list of workers stands for");
  std::size_t max = bench::usable_workers();
  list->add_option("list", workers)->required();
  list->add_option("--max", max, "the value of max")->check(CLI::Range(1, 1024));
  for (auto* const command : app.get_subcommands({}))
    command->add_option("--json", json, "the file to write; -: standard output")->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  try {
    if (list->parsed()) {
      write(bench::worker_list(workers, max), json);
    } else if (machine->parsed()) {
      write(measure::describe_machine(), json);
    } else {
      o.workers = bench::worker_list(workers);
      auto results = nlohmann::json::array();
      for (auto const& r : all_rows()) {
        auto result = named(r);
        if (!rows->parsed()) {
          if (!app.got_subcommand(r.family) || (!only.empty() && r.name != only)) continue;
          result.update(r.measure(o));
        }
        results.push_back(result);
      }
      if (results.empty())
        throw std::runtime_error{fmt::format("there is no row '{}'; bench_measure rows lists them", only)};
      write(results, json);
    }
    return 0;
  } catch (std::exception const& e) {
    fmt::print(stderr, "bench_measure: {}\n", e.what());
    return 1;
  }
}
