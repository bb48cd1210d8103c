// Runs one program under two of heist's victim policies and under the policy of this example. Prints times and steals.
#include <heist/executor.hpp>
#include <heist/fork_join.hpp>
#include <heist/policy.hpp>
#include <heist/topology.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

#include "../kernels/uts.hpp"
#include "grateful.hpp"
#include "thefts.hpp"

namespace {

using program = kernels::uts_t3;

struct options {
  std::size_t size = program::about.usual;
  heist::options where{.stack_size = program::about.stack};
  int repeat = 3;
};

/// Prints the shortest time of some runs, and the mean steals of a run. Returns false if a result is wrong.
template <class Policy>
bool show(char const* name, options const& o, std::uint64_t expected) {
  heist::executor<Policy, thefts> ex{o.where};
  program tree{o.size};
  double best = 1e300;
  bool right = true;
  for (int i = 0; i != o.repeat; ++i) {
    tree.prepare();
    auto const start = std::chrono::steady_clock::now();
    ex.invoke([&](auto ctx) { tree.parallel(ctx); });
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
    best = took.count() < best ? took.count() : best;
    right = right && tree.result() == expected;
  }
  auto const done = ex.observer().sum();
  fmt::print("{:12} {:>7} {:>11.6f} {:>10} {:>10} {:>9.1f}%  {}\n", name, ex.worker_count(), best,
             done.steals / static_cast<std::uint64_t>(o.repeat), done.attempts / static_cast<std::uint64_t>(o.repeat),
             done.attempts == 0 ? 0.0 : 100.0 * static_cast<double>(done.steals) / static_cast<double>(done.attempts),
             right ? "right" : "WRONG");
  return right;
}

bool compare(options const& o) {
  program tree{o.size};
  tree.serial();
  std::uint64_t const expected = tree.result();
  fmt::print("{} nodes\n", expected);
  fmt::print("{:12} {:>7} {:>11} {:>10} {:>10} {:>10}  {}\n", "policy", "workers", "seconds", "steals", "attempts",
             "success", "result");
  bool right = show<heist::policy::random>("random", o, expected);
  right = show<heist::policy::hierarchical>("hierarchical", o, expected) && right;
  right = show<heist::policy::bundle<grateful, heist::idle::standard>>("grateful", o, expected) && right;
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  options o;
  std::string machine;
  CLI::App app{
      "A victim policy of one's own (grateful.hpp) beside two of heist's, counting the nodes of an unbalanced "
      "tree (UTS T3)."};
  app.add_option("--size", o.size, std::string{program::about.size_means})
      ->type_name("N")
      ->check(CLI::Range(program::about.smallest, program::about.largest))
      ->capture_default_str();
  app.add_option("--workers", o.where.workers, "worker threads; 0: as many as this process may use CPUs")
      ->type_name("N")
      ->check(CLI::Range(0, 1024));
  app.add_option("--repeat", o.repeat, "runs of each, of which the fastest counts; steals and attempts are per run")
      ->type_name("N")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--machine", machine, "the machine to pretend, such as \"package:2 l3:1 core:4 pu:1\"")
      ->type_name("MACHINE");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!machine.empty()) o.where.machine = heist::topology::parse(machine);
    return compare(o) ? 0 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "write_a_policy: {}\n", e.what());
    return 1;
  }
}
