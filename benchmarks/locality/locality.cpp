// Runs iterative and CPU-bound programs of the CAB and CATS papers under every policy, and with blocks placed by hand.
// Prints the time, and how often data stayed in its place.
#include <heist/heist.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>  // join
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>  // getloadavg
#include <exception>
#include <fstream>
#include <new>  // bad_alloc
#include <optional>
#include <string>
#include <vector>

#include "comparisons.hpp"
#include "options.hpp"
#include "policies.hpp"
#include "programs.hpp"
#include "report.hpp"

namespace {

using namespace locality;

std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for_each_policy([&]<class Policy>(std::string const& name) { names.push_back(name); });
  return names;
}

void list_programs() {
  fmt::print("{:10} {:7} {:>8} {:>6} {:>6}  {}\n", "program", "bound", "size", "leaf", "steps",
             "problem (what size means)");
  for_each_program([]<class P>() {
    auto const& p = P::about;
    fmt::print("{:10} {:7} {:>8} {:>6} {:>6}  {} ({})\n", p.name, p.bound == bound_by::memory ? "memory" : "cpu",
               p.usual, p.leaf, p.steps, p.problem, p.size_means);
  });
  fmt::print("policies: {}\n", fmt::join(policy_names(), ", "));
}

/// The load of the last minute; measurements on a busy machine are worth nothing.
double load() {
  double minute = 0;
  return ::getloadavg(&minute, 1) == 1 ? minute : 0;
}

/// All comparisons that were asked for; true if all results are right.
class session {
 public:
  explicit session(options const& o) : options_{o} {}

  bool run() {
    for (std::size_t const workers : options_.worker_counts()) {
      options_.workers = workers;
      where_.emplace(options_);
      fmt::print("{}{}; load {:.2f}\n", where_->text(), options_.pin ? "; pinned" : "", load_);
      for_each_program([&]<class P>() {
        if (!is_wanted<P>()) return;
        for (std::size_t const size : sizes_for<P>(options_)) show(compare<P>(size));
      });
    }
    if (!options_.json.empty()) write_json();
    return right_;
  }

 private:
  template <class P>
  bool is_wanted() const {
    if (!options_.programs.empty()) return options_.needs_program(P::about.name);
    if (options_.check) return true;
    if (options_.cpu_bound) return P::about.bound == bound_by::cpu;
    return P::about.name == (options_.bl_sweep ? heat::about.name : heat_in_a_line::about.name);
  }

  template <class P>
  comparison compare(std::size_t size) const {
    comparisons<P> c{options_, *where_, size};
    if (options_.bl_sweep) {
      if constexpr (requires { P::sweeps_per_step; }) {
        return c.boundary_levels();
      } else {
        throw wrong_input{fmt::format("{}: --bl-sweep needs an iterative program", P::about.name)};
      }
    }
    return options_.cpu_bound || options_.check ? c.policies_only() : c.policies();
  }

  void show(comparison const& c) {
    print(c);
    right_ = right_ && c.right();
    results_.push_back(to_json(c));
    results_.back()["workers"] = where_->workers;
  }

  void write_json() const {
    std::ofstream out{options_.json};
    out << nlohmann::json{{"where", where_->text()},
                          {"pinned", options_.pin},
                          {"load", load_},
                          {"rounds", options_.rounds},
                          {"comparisons", results_}}
               .dump(1)
        << '\n';
    if (!out.flush()) throw wrong_input{fmt::format("{}: the file cannot be written", options_.json)};
    fmt::print("\nwritten: {}\n", options_.json);
  }

  options options_;
  std::optional<place> where_;  ///< of the present number of workers
  double load_ = load();
  bool right_ = true;
  std::vector<nlohmann::json> results_;
};

void declare_options(CLI::App& app, options& o) {
  std::vector<std::string> programs{"all"}, policies{"all"};
  for_each_program([&]<class P>() { programs.emplace_back(P::about.name); });
  for (std::string const& name : policy_names()) policies.push_back(name);
  std::vector<std::string> levels;
  for (auto const& [name, level] : squad_levels()) levels.push_back(name);
  app.description("Where iterative programs run, under every policy and beside blocks placed by hand.");
  app.add_option("--program", o.programs, "which ones; see --list (default: heat-line)")
      ->type_name("NAME")
      ->check(CLI::IsMember(programs).description(""));
  app.add_option("--policy", o.policies, "which ones; see --list (default: all)")
      ->type_name("NAME")
      ->check(CLI::IsMember(policies).description(""));
  app.add_option("--squads", o.squads,
                 "what the workers of a squad share: " + fmt::format("{}", fmt::join(levels, ", ")))
      ->type_name("LEVEL")
      ->check(CLI::IsMember(levels).description(""))
      ->capture_default_str();
  app.add_option("--machine", o.machine, "a machine to pretend, such as \"package:2 l3:1 core:2 pu:1\"")
      ->type_name("TEXT");
  bench::add_workers_option(app, o.worker_list);
  auto* const size = app.add_option("--size", o.size, "size of the problem; what that means differs: --list");
  size->type_name("N");
  app.add_option("--bytes", o.bytes, "instead: working sets, such as 2MiB; the largest size that needs no more")
      ->type_name("BYTES")
      ->transform(CLI::AsSizeValue{false}.description(""))
      ->excludes(size);
  app.add_option("--steps", o.steps, "timed steps (default: --list)")->type_name("N")->check(CLI::PositiveNumber);
  app.add_option("--leaf", o.leaf, "most rows of a leaf task (default: as many leaves as --list says)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", o.rounds, "rounds in which all take turns; medians count")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option(
         "--calm", o.calm,
         "run again, up to 7 times, what waited for CPUs longer than so much of its time: for machines that are "
         "not ours alone; 0: every run counts")
      ->type_name("PERCENT")
      ->check(CLI::Range(0.0, 100.0))
      ->capture_default_str();
  app.add_flag("--pin", o.pin, "bind workers to PUs; blocks placed by hand always are");
  auto* const sweep = app.add_flag("--bl-sweep", o.bl_sweep, "all boundary levels (default: of heat), as CAB's Fig. 5");
  auto* const cpu = app.add_flag("--cpu-bound", o.cpu_bound, "the CPU-bound programs, policies only");
  app.add_flag("--check", o.check, "all programs, small, a few steps, policies only")->excludes(sweep)->excludes(cpu);
  cpu->excludes(sweep);
  app.add_option("--json", o.json, "write all rounds to this file as well")->type_name("FILE");
  app.add_flag("--list", o.list, "say what there is");
  app.footer(R"(Examples:
  bench_locality --squads l2 --pin --program heat-line --program heat --program sor --bytes 2MiB
  bench_locality --bl-sweep --squads l2 --pin --bytes 1MiB 2MiB 4MiB
  bench_locality --cpu-bound
  bench_locality --check --machine "package:2 l3:1 core:2 pu:1"
Exit status: 0 when all results are right; 1 when one is wrong or something cannot be done.)");
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  CLI::App app;
  declare_options(app, o);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  if (o.list) {
    list_programs();
    return 0;
  }
  try {
    return session{o}.run() ? 0 : 1;
  } catch (std::bad_alloc const&) {
    fmt::print(stderr, "error: not enough memory; take a smaller --size\n");
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
  }
  return 1;
}
