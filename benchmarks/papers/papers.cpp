// Reproduces figures and tables of the papers on the simulator, beside the papers' own numbers.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>
#include <string>
#include <utility>  // pair
#include <vector>

#include "../workers.hpp"
#include "commands.hpp"

int main(int argc, char** argv) {
  papers::request wanted;
  CLI::App app{"Figures and tables of the papers, from the simulator, beside the papers' own numbers."};
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, papers::command>> known;
  for (auto const& command : papers::commands) {
    auto* const sub = app.add_subcommand(std::string{command.name}, std::string{command.what});
    sub->add_flag("--quick", wanted.quick, "small: shows that it runs, not what the paper shows");
    sub->add_option("--svg", wanted.svg, "write a plot to this file")->type_name("FILE");
    sub->add_option("--seed", wanted.seed, "of the first run; the others follow it")
        ->type_name("N")
        ->capture_default_str();
    sub->add_option("--rounds", wanted.rounds, "seeds of which the mean is shown; calibrate: measurements")
        ->type_name("N")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    if (command.name == "calibrate" || command.name == "cache-model") bench::add_workers_option(*sub, wanted.workers);
    known.emplace_back(sub, command);
  }
  try {
    app.parse(argc, argv);
    if (wanted.quick) wanted.rounds = 1;
    for (auto const& [sub, command] : known) {
      if (sub->parsed()) command.run(wanted);
    }
    return 0;
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}
