// The command line of the example.
#pragma once

#include "corners.hpp"
#include "error.hpp"
#include "multiplier.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace timing {

inline constexpr std::size_t largest_dot = 2000;  // gates; a picture of more cannot be read
inline constexpr double longest_period = 1e9;     // picoseconds

struct options {
  std::string file;
  std::size_t multiplier = 0;
  std::optional<double> period;  // picoseconds
  std::size_t corners = most_corners;
  std::size_t workers = 0;
  std::uint64_t changes = 0;
  std::uint64_t batch = 1;
  std::uint64_t seed = 1;
  bool verify = false;
  bool full_path = false;
  std::string idle = "default";
  std::string save, trace, dot, svg;
};

/// A CLI11 check: returns an error text, empty for a valid period. CLI::Range would accept "nan".
inline std::string is_period(std::string const& text) {
  double value = -1;
  if (CLI::detail::lexical_cast(text, value) && value >= 0 && value <= longest_period) return {};
  return fmt::format("'{}' is no period: give picoseconds from 0 to {}", printable(text), longest_period);
}

/// Declares all options of `app`; `o` must outlive `app`.
inline void declare_options(CLI::App& app, options& o) {
  app.description("Static timing analysis of a gate-level circuit as a task graph: two tasks per gate.");
  auto* const file = app.add_option("netlist", o.file, "structural Verilog file, one flat module")->type_name("FILE");
  app.add_option("--multiplier", o.multiplier, "make an N x N array multiplier instead of reading a file")
      ->type_name("N")
      ->check(CLI::Range(min_bits, most_bits))
      ->excludes(file);
  app.add_option("--period", o.period, "clock period; default: the shortest at which every end point is in time")
      ->type_name("PS")
      ->check(is_period);
  app.add_option("--corners", o.corners, "how many process corners to time at once")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, most_corners))
      ->capture_default_str();
  app.add_option("--workers", o.workers, "worker threads; 0: as many as this process may use CPUs")->type_name("N");
  auto* const idle =
      app.add_option("--idle", o.idle, "what workers without work do: search and sleep in one of four ways")
          ->check(CLI::IsMember({"default", "adaptive", "balanced", "spinning"}))
          ->capture_default_str();
  app.add_option("--changes", o.changes, "afterwards change K gates or loads at random, re-timing what they touch")
      ->type_name("K")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{100'000'000}));
  app.add_option("--batch", o.batch, "changes per re-timing")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of the random changes")->type_name("S")->capture_default_str();
  app.add_flag("--verify", o.verify, "compare the result of the changes with a full analysis");
  app.add_flag("--full-path", o.full_path, "print every gate of the critical path");
  app.add_option("--save", o.save, "write the circuit as Verilog, with the sizes it has in the end")->type_name("FILE");
  app.add_option("--trace", o.trace, "write the schedule for Perfetto or chrome://tracing")
      ->type_name("FILE")
      ->excludes(idle);
  app.add_option("--dot", o.dot, "write the task graph for Graphviz (small circuits)")->type_name("FILE");
  app.add_option("--svg", o.svg, "write a histogram of the slacks as a picture")->type_name("FILE");
  app.footer(R"(Examples:
  example_timing --multiplier 64                          no file needed
  example_timing design.v --period 2000 --svg slack.svg   what is too slow at 500 MHz?
  example_timing --multiplier 64 --changes 1000 --seed 7 --verify
  example_timing --multiplier 16 --workers 2 --trace schedule.json
Exit status: 0 when the circuit was timed, whatever its slack; 1 when something cannot be done.)");
}

}  // namespace timing
