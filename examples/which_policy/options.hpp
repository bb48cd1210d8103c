// The command line of the example.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/measure.hpp>
#include <heist/observe.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>  // find, sort, unique
#include <array>
#include <charconv>  // from_chars
#include <cstddef>   // size_t
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>  // pair
#include <vector>

#include "comparison.hpp"
#include "memory.hpp"
#include "policies.hpp"
#include "programs.hpp"
#include "progress.hpp"

namespace which_policy {

struct options {
  std::string trace;    ///< empty: record `program`
  std::string program;  ///< empty: heat, if there is no trace
  std::optional<std::size_t> size;
  recording_request recording;
  std::string record_file;
  std::string machine, recorded_machine;
  heist::topology::machine recorded_on;
  bool keeps_work = false;
  std::string memory;  ///< "here", "usual" or a file; empty: here for this machine, otherwise usual
  bool sets_memory_cost = false;
  std::vector<std::string> policies;
  request run;
  std::string plot_file = "which_policy.svg";
  std::string json_file;  ///< "-": standard output, without other text
  bool no_plot = false;
  show_progress progress = show_progress::on_terminals;
};

namespace detail {

using cost_member = heist::sim::duration heist::sim::costs::*;
inline constexpr std::array<std::pair<std::string_view, cost_member>, 19> cost_names{
    {{"fork", &heist::sim::costs::fork},
     {"join", &heist::sim::costs::join},
     {"continuation", &heist::sim::costs::continuation},
     {"park", &heist::sim::costs::park},
     {"resume", &heist::sim::costs::resume},
     {"attempt", &heist::sim::costs::attempt},
     {"steal", &heist::sim::costs::steal},
     {"look", &heist::sim::costs::look},
     {"inter", &heist::sim::costs::inter},
     {"pause", &heist::sim::costs::pause},
     {"yield", &heist::sim::costs::yield},
     {"sleep", &heist::sim::costs::sleep},
     {"wake", &heist::sim::costs::wake},
     {"notify", &heist::sim::costs::notify},
     {"submit", &heist::sim::costs::submit},
     {"node", &heist::sim::costs::node},
     {"private_hit", &heist::sim::costs::private_hit},
     {"shared_hit", &heist::sim::costs::shared_hit},
     {"memory", &heist::sim::costs::memory}}};

inline std::string all_cost_names() {
  std::string all;
  for (auto const& [name, member] : cost_names) all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  return all;
}

/// Parses a text such as "steal=500".
inline void read_cost(std::string const& text, heist::sim::costs& into) {
  auto const equals = text.find('=');
  std::uint64_t value = 0;
  auto const* const begin = text.data() + std::min(equals, text.size() - 1) + 1;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(begin, end, value);
  auto const found = std::find_if(cost_names.begin(), cost_names.end(),
                                  [&](auto const& entry) { return entry.first == text.substr(0, equals); });
  constexpr std::uint64_t most = 1'000'000'000;
  if (equals == std::string::npos || error != std::errc{} || stop != end || value > most || found == cost_names.end())
    throw CLI::ValidationError{fmt::format("'{}' is no cost: give NAME=NANOSECONDS, such as steal=500, with one of {}",
                                           text.substr(0, 60), all_cost_names())};
  into.*found->second = value;
}

inline void declare_program(CLI::App& app, options& o) {
  std::vector<std::string> names;
  for (auto const& entry : programs) names.emplace_back(entry.name);
  auto* const trace =
      app.add_option("trace", o.trace, "a recorded program; see below how to record one")->type_name("FILE");
  app.add_option("--program", o.program, "record one of these instead (default without FILE: heat)")
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""))
      ->excludes(trace);
  app.add_option("--size", o.size, "of that program; what it means: see below")->type_name("N")->excludes(trace);
  app.add_option("--repeat", o.recording.repeat, "record so often; of each stretch of work the shortest time counts")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->excludes(trace);
  app.add_option("--record-workers", o.recording.workers, "record on so many workers; 1 is the least noise")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->excludes(trace);
  app.add_option("--record", o.record_file, "write the recording, to be used again")
      ->type_name("FILE")
      ->excludes(trace);
}

inline void declare_machine(CLI::App& app, options& o) {
  app.add_option("--machine", o.machine,
                 "the machine, such as \"package:2 l3:8(size=32MiB) l2:8(size=1MiB) core:1 pu:1\", or one of lstopo's "
                 "XML files (NAME.xml) (default: this one)")
      ->type_name("TEXT");
  app.add_option("--recorded-on", o.recorded_machine, "the machine of the recording, likewise (default: this one)")
      ->type_name("TEXT");
  app.add_option("--memory", o.memory,
                 "what memory costs there: here (streams measure this machine for a second), usual (memory=3 and "
                 "shared_hit=1, no limit of bandwidth), or a file that cmake/measure.sh wrote on that machine "
                 "(default: here for this machine, otherwise usual)")
      ->type_name("here|usual|FILE");
  app.add_flag("--keep-work", o.keeps_work, "the recorded work contains no time for memory: take none out of it");
  static std::map<std::string, heist::squad_by> const squads{{"automatic", heist::squad_by::automatic},
                                                             {"package", heist::squad_by::package},
                                                             {"numa", heist::squad_by::numa},
                                                             {"l3", heist::squad_by::l3},
                                                             {"l2", heist::squad_by::l2},
                                                             {"core", heist::squad_by::core}};
  app.add_option_function<std::string>(
         "--squads", [&o](std::string const& word) { o.run.how.squads = squads.at(word); },
         "who shares a cache, and is a squad (default: automatic)")
      ->type_name("automatic|package|numa|l3|l2|core")
      ->check(CLI::IsMember(squads).description(""));
  app.add_option("--workers", o.run.workers,
                 "how many; several with commas (default: 1, 2, 4, ... and one for each PU of the machine)")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(CLI::Range(std::uint32_t{1}, heist::sim::most_workers));
  app.add_option("--policy", o.policies, "which ones; several with commas (default: all, see below)")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->check(CLI::IsMember(policy_names()).description(""));
  app.add_option("--boundary-level", o.run.how.boundary_level,
                 "cab: 1 is a region's body, 2 what it forks, ...; 0 is traditional stealing (default: Eq. 4)")
      ->type_name("N")
      ->check(CLI::Range(0, 64));
  app.add_option_function<std::vector<std::string>>(
         "--cost",
         [&o](std::vector<std::string> const& all) {
           for (auto const& text : all) {
             detail::read_cost(text, o.run.how.costs);
             for (auto const* of_lines : {"memory=", "shared_hit=", "private_hit="})
               o.sets_memory_cost = o.sets_memory_cost || text.starts_with(of_lines);
           }
         },
         "what something costs on that machine, as often as you like; costs of lines stand for --memory usual, which "
         "fits "
         "tasks that read forwards (memory=70 and shared_hit=10: that jump about)")
      ->type_name("NAME=NS");
  o.run.how.caches.block_bytes = 4096;
  set_usual_memory(o.run.how.costs);
  app.add_option("--block", o.run.how.caches.block_bytes, "bytes that a simulated cache keeps and drops together")
      ->type_name("BYTES")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  app.add_option("--seeds", o.run.seeds, "simulations of each, of which the median counts")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

inline void declare_output(CLI::App& app, options& o) {
  app.add_option("--plot", o.plot_file, "the picture (SVG)")->type_name("FILE")->capture_default_str();
  app.add_flag("--no-plot", o.no_plot, "no picture");
  app.add_option("--json", o.json_file, "all results as JSON; -: to standard output, and nothing else there")
      ->type_name("FILE");
  app.add_option("--threads", o.run.threads, "simulate on so many threads; 0: as many as this process may use CPUs")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  static std::map<std::string, show_progress> const when{
      {"auto", show_progress::on_terminals}, {"always", show_progress::always}, {"never", show_progress::never}};
  app.add_option_function<std::string>(
         "--progress", [&o](std::string const& word) { o.progress = when.at(word); },
         "on stderr (default: auto, on terminals after a second)")
      ->type_name("auto|always|never")
      ->check(CLI::IsMember(when).description(""));
}

inline std::string footer() {
  std::string text = "Policies:\n";
  for (auto const& entry : policies) text += fmt::format("  {:<20} {}\n", entry.name, entry.what);
  text += "\nPrograms (--size, default):\n";
  for (auto const& entry : programs)
    text += fmt::format("  {:<20} {} ({}, {})\n", entry.name, entry.what, entry.size_means, entry.usual);
  text += fmt::format("\nCosts: {}\n", all_cost_names());
  return text + R"(
To record a program of your own, unchanged, whose tasks take their context as a template parameter:
  heist::executor ex{1};
  auto const r = heist::record_program(ex, [&](auto ctx) { your_program(ctx); }, {.name = "yours"});
  heist::sim::save(r.program, "yours.json");
and a task graph that has run on an executor with heist::recorder: heist::record_graph(graph, ex.observer()).

Examples:
  example_which_policy yours.json --machine "package:2 l3:8(size=32MiB) l2:8(size=1MiB) core:1 pu:1"
  example_which_policy --program uts --machine "package:1 core:64 pu:1" --record uts.json
  example_which_policy uts.json --workers 16,64,256 --machine "package:4 core:64 pu:1" --cost steal=1000
Exit status: 0 when the question is answered; 1 when something cannot be done.)";
}

/// The machine that `text` names; this machine if it is empty.
inline heist::topology::machine machine_named(std::string const& text) {
  if (text.empty()) return heist::topology::this_machine();
  return text.ends_with(".xml") ? heist::topology::load_xml(text) : heist::topology::parse(text);
}

}  // namespace detail

/// Declares all options of `app`; `o` must outlive `app`.
inline void declare_options(CLI::App& app, options& o) {
  app.description("Which policy suits a recorded program on some machine? Simulates it there, and answers.");
  detail::declare_program(app, o);
  detail::declare_machine(app, o);
  detail::declare_output(app, o);
  app.footer(detail::footer());
}

/// Sets and checks values that depend on several options and on the machine. Throws wrong_input, or topology_error for
/// a machine that cannot be read.
inline void settle(options& o) {
  if (o.trace.empty() && o.program.empty()) o.program = "heat";
  if (!o.program.empty()) {
    auto const& entry = program_named(o.program);
    o.recording.size = o.size.value_or(entry.usual);
    if (o.recording.size < entry.smallest || o.recording.size > entry.largest) {
      throw wrong_input{fmt::format("{}: --size ({}) must be from {} to {}", entry.name, entry.size_means,
                                    entry.smallest, entry.largest)};
    }
  }
  auto& how = o.run.how;
  how.machine = detail::machine_named(o.machine);
  o.recorded_on = detail::machine_named(o.recorded_machine);
  if (o.sets_memory_cost && !o.memory.empty() && o.memory != "usual")
    throw wrong_input{
        fmt::format("--memory {} and --cost both say what a line costs; leave one of them out", o.memory)};
  if (o.memory.empty()) o.memory = how.machine->is_this_machine && !o.sets_memory_cost ? "here" : "usual";
  if (o.memory == "here" && !how.machine->is_this_machine)
    throw wrong_input{"--memory here is of this machine, and --machine names another; leave one of them out"};
  auto& workers = o.run.workers;
  if (workers.empty()) {
    auto const all =
        static_cast<std::uint32_t>(std::min<std::size_t>(how.machine->pu_count(), heist::sim::most_workers));
    for (std::uint32_t w = 1; w < all; w *= 2) workers.push_back(w);
    workers.push_back(all);
  }
  std::sort(workers.begin(), workers.end());
  workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
  for (auto const& entry : policies) {
    bool const is_wanted =
        o.policies.empty() || std::find(o.policies.begin(), o.policies.end(), entry.name) != o.policies.end();
    if (is_wanted) o.run.policies.push_back(&entry);
  }
}

}  // namespace which_policy
