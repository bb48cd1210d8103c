// The command line of the example.
#pragma once

#include <heist/heist.hpp>
#include <heist/topology.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>  // size_t
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "parse.hpp"
#include "plate.hpp"
#include "policy_table.hpp"
#include "progress.hpp"

namespace heat {

struct options {
  plate_description plate;
  run_request run;
  std::string policy = "random";
  std::optional<std::size_t> most_steps;
  std::string machine;
  std::size_t recorded_steps = 1000;
  std::string plate_file = "heat_plate.png", placement_file = "heat_placement.png";
  bool no_pictures = false;
  bool verify = false;
  bool shows_profile = false;
  show_progress progress = show_progress::on_terminals;
};

namespace detail {

/// Turns an argument_error of `read` into an error of the command line.
template <class Read>
auto checked(Read read) {
  return [read](std::string const& text) {
    try {
      read(text);
    } catch (argument_error const& e) {
      throw CLI::ValidationError{e.what()};
    }
  };
}

template <class Value>
void add_choice(CLI::App& app, std::string const& name, Value& value, std::map<std::string, Value> const& names,
                std::string const& what) {
  std::string joined;
  for (auto const& [word, unused] : names) joined += (joined.empty() ? "" : "|") + word;
  app.add_option_function<std::string>(
         name, [&value, names](std::string const& word) { value = names.at(word); }, what)
      ->type_name(joined)
      ->check(CLI::IsMember(names).description(""));
}

inline void declare_plate(CLI::App& app, options& o) {
  app.add_option_function<std::string>("--size", checked([&o](std::string const& text) { read_size(text, o.plate); }),
                                       "cells of a square plate, or rows x columns, edges included (default: 512)")
      ->type_name("N|RxC");
  app.add_option_function<std::vector<std::string>>(
         "--edge",
         [&o](std::vector<std::string> const& all) {
           for (auto const& text : all) checked([&o](auto const& t) { read_edge(t, o.plate.edges); })(text);
         },
         "temperature of an edge, as often as you like (default: top=100, the others 0)")
      ->type_name("SIDE=DEGREES");
  app.add_option_function<std::vector<std::string>>(
         "--spot",
         [&o](std::vector<std::string> const& all) {
           for (auto const& text : all) checked([&o](auto const& t) { o.plate.spots.push_back(read_spot(t)); })(text);
         },
         "a disc that keeps its temperature, as often as you like; X, Y, RADIUS in percent of the plate")
      ->type_name("X,Y,RADIUS,DEGREES");
  app.add_option("--steps", o.most_steps, "steps at most (default: 500; with --tolerance: 1000000)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1'000'000'000}));
  app.add_option_function<std::string>(
         "--tolerance", checked([&o](std::string const& text) { o.run.how.tolerance = read_tolerance(text); }),
         "end when no cell changes by more than this in a step (looked at in every tenth)")
      ->type_name("DEGREES");
}

inline void declare_machine(CLI::App& app, options& o) {
  app.add_option("--policy", o.policy, "how work is stolen; see below")
      ->type_name("NAME")
      ->check(CLI::IsMember(policy_names()).description(""))
      ->capture_default_str();
  app.add_option("--workers", o.run.where.workers,
                 "worker threads; 0: as many as this process may use CPUs, or as the --machine has")
      ->type_name("N")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  app.add_option("--machine", o.machine,
                 "pretend a machine, such as \"package:2 l3:1 core:4 pu:1\", or one of lstopo's XML files (NAME.xml)")
      ->type_name("TEXT");
  add_choice<heist::squad_by>(app, "--squads", o.run.where.squads,
                              {{"automatic", heist::squad_by::automatic},
                               {"package", heist::squad_by::package},
                               {"numa", heist::squad_by::numa},
                               {"l3", heist::squad_by::l3},
                               {"l2", heist::squad_by::l2},
                               {"core", heist::squad_by::core}},
                              "what the workers of a squad share (default: automatic)");
  app.add_flag_callback(
      "--pin", [&o] { o.run.where.pin = heist::pinning::pus; },
      "bind each worker to a CPU; for machines that you have for yourself");
  app.add_option("--boundary-level", o.run.boundary_level,
                 "cab: 1 is the whole step, 2 its halves, ...; 0 is traditional stealing (default: Eq. 4)")
      ->type_name("N")
      ->check(CLI::Range(0, 64));
  app.add_option("--leaf-rows", o.run.how.leaf_rows, "rows that one task computes, at most")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, plate_description::most))
      ->capture_default_str();
}

inline void declare_output(CLI::App& app, options& o) {
  app.add_option("--plate", o.plate_file, "the picture of the plate")->type_name("FILE")->capture_default_str();
  app.add_option("--placement", o.placement_file, "the picture of who computed which row in which step")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option_function<std::string>(
         "--by",
         [&o](std::string const& word) {
           o.run.by_automatic = false;
           o.run.how.by = word == "squad" ? placed_by::squad : placed_by::worker;
         },
         "what that picture is coloured by (default: squad, if there are several)")
      ->type_name("squad|worker")
      ->check(CLI::IsMember({"squad", "worker"}).description(""));
  app.add_option("--record", o.recorded_steps, "the first so many steps are in that picture")
      ->type_name("N")
      ->check(CLI::Range(1, 20'000))
      ->capture_default_str();
  app.add_flag("--no-pictures", o.no_pictures, "write no files");
  app.add_flag("--profile", o.shows_profile, "cats: print what was measured of the first step");
  app.add_flag("--verify", o.verify, "solve again on one thread without tasks, and compare");
  add_choice<show_progress>(
      app, "--progress", o.progress,
      {{"auto", show_progress::on_terminals}, {"always", show_progress::always}, {"never", show_progress::never}},
      "on stderr (default: auto, on terminals after a second)");
}

}  // namespace detail

/// Declares all options of `app`; `o` must outlive `app`.
inline void declare_options(CLI::App& app, options& o) {
  app.description("How heat spreads in a metal plate, on many cores, and a picture of who computed what.");
  detail::declare_plate(app, o);
  detail::declare_machine(app, o);
  detail::declare_output(app, o);
  std::string text = "Policies:\n";
  for (auto const& entry : policies) text += fmt::format("  {:<12} {}\n", entry.name, entry.what);
  text += R"(
Examples:
  example_heat --spot 30,40,6,400 --spot 70,60,4,-50 --tolerance 0.001
  example_heat --machine "package:4 l3:1 core:2 pu:1" --policy cab --steps 200
  example_heat --squads l2 --pin --policy cats --profile --verify
Exit status: 0 when the plate was solved, or the steps have been taken; 1 when something cannot be done.)";
  app.footer(text);
}

/// Sets and checks values that depend on several options. Throws argument_error for options that contradict each other,
/// and topology_error for a machine that cannot be read.
inline void settle(options& o) {
  constexpr std::size_t usual_steps = 500, most_steps_to_tolerance = 1'000'000;
  o.run.how.most_steps = o.most_steps.value_or(o.run.how.tolerance ? most_steps_to_tolerance : usual_steps);
  if (!o.no_pictures && o.plate_file == o.placement_file) {
    throw argument_error{fmt::format("--plate and --placement both name {}; give one of them another name",
                                     detail::printable(o.plate_file))};
  }
  if (o.run.boundary_level && o.policy != "cab") {
    throw argument_error{
        fmt::format("--boundary-level means nothing to {}; add --policy cab or leave it out", o.policy)};
  }
  if (o.machine.empty()) return;
  if (o.run.where.pin == heist::pinning::pus) {
    throw argument_error{"workers cannot be bound to the CPUs of a --machine that is only pretended; leave --pin out"};
  }
  bool const is_file = o.machine.ends_with(".xml");
  o.run.where.machine = is_file ? heist::topology::load_xml(o.machine) : heist::topology::parse(o.machine);
}

}  // namespace heat
