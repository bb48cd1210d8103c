// The programs of "Optimizing Data Locality for Fork/Join Programs Using Constrained Work Stealing" (SC 2014) under
// every schedule. They are compared with OpenMP and with blocks placed by hand. The program also measures the cost of
// following a steal tree.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <exception>

#include "../workers.hpp"
#include "compare_programs.hpp"
#include "fib.hpp"
#include "redistribution.hpp"

int main(int argc, char** argv) {
  locality::options o;
  replay::fib_options fib;
  CLI::App app{"Programs that follow the steal tree of an earlier run."};
  app.require_subcommand(1);

  auto* const programs = app.add_subcommand("programs", "the paper's programs under every schedule");
  programs->add_option("--program", o.programs, "by name, see list; default: all")->type_name("NAME");
  programs->add_option("--schedule", o.policies, "by name, as it is printed; default: all")->type_name("NAME");
  programs->add_option("--size", o.size, "of the problem, see list")->type_name("N");
  programs->add_option("--bytes", o.bytes, "instead, where size follows from it: 2MiB")
      ->transform(CLI::AsSizeValue{false}.description(""));
  programs->add_option("--leaf", o.leaf, "rows of a block")->type_name("N")->check(CLI::PositiveNumber);
  programs->add_option("--steps", o.steps, "timed steps")->type_name("N")->check(CLI::PositiveNumber);
  programs->add_option("--json", o.json, "write all rounds to this file")->type_name("FILE");
  programs->add_option("--calm", o.calm, "again, if threads waited for CPUs so long: percent of the time");
  auto* const check = programs->add_flag("--check", o.check, "small, one round: are the results right?");

  auto* const fib_command = app.add_subcommand("fib", "what recording and following cost; the paper's Fig. 2");
  fib_command->add_option("--n", fib.n)->check(CLI::Range(2, 60))->capture_default_str();
  fib_command->add_option("--cutoff", fib.cutoff, "the sequential kernel computes smaller ones")->capture_default_str();
  fib_command->add_option("--larger", fib.larger, "the tree of fib(n) is followed at n + this")->capture_default_str();

  auto* const moved = app.add_subcommand(
      "redistribute", "what it takes to bring the programs' data to where a schedule uses it; the paper's Fig. 6");
  moved->add_option("--program", o.programs, "by name, see list; default: all")->type_name("NAME");
  moved->add_option("--bytes", o.bytes, "of the data: 64MiB; default: a usual problem's")
      ->transform(CLI::AsSizeValue{false}.description(""));
  auto* const moved_check = moved->add_flag("--check", o.check, "small, one round: are the copies right?");

  auto* const list = app.add_subcommand("list", "the programs");
  for (CLI::App* const command : {programs, fib_command, moved}) {
    bench::add_workers_option(*command, o.worker_list);
    command->add_flag("--pin", o.pin, "bind them to PUs");
    command->add_option("--rounds", o.rounds, "all take turns so often; medians count")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
  }

  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? 0 : 1;
  }
  if (list->parsed()) {
    replay::list_programs();
    return 0;
  }
  try {
    if (check->count() + moved_check->count() > 0) o.rounds = 1;
    if (moved->parsed()) return replay::measure_redistribution(o) ? 0 : 1;
    if (programs->parsed()) return replay::compare_programs(o) ? 0 : 1;
    fib.rounds = o.rounds;
    bool right = true;
    for (std::size_t const workers : o.worker_counts()) {
      o.workers = workers;
      fib.executor = o.for_executor(fib.executor.stack_size);
      right = replay::measure_fib(fib) && right;
    }
    return right ? 0 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "error: {}\n", e.what());
    return 1;
  }
}
