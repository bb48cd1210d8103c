// Runs cases and judges them; cuts failing ones down.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>

#include "fuzz/differential/case.hpp"
#include "fuzz/differential/subject.hpp"
#include "support/program_judge.hpp"

namespace heist_fuzz {

/// The cases that have been run, and their results.
struct tally {
  std::uint64_t cases = 0, graphs = 0, trees = 0, tasks = 0, replays = 0;
  std::uint64_t thrown = 0, accounted = 0;  ///< exceptions; those that arrived, and those beside one that did
  std::uint64_t stopped = 0;                ///< rounds in which a stop was requested
  std::uint64_t lost = 0, doubled = 0, order = 0, values = 0, exceptions = 0, placed = 0, leaks = 0;
  std::set<std::string> policies;
  std::set<std::uint32_t> workers;

  void add(heist_test::fault f) noexcept;
  /// Two lines for people.
  std::string text() const;
  std::string to_json() const;
};

/// Finds the type of that name; throws std::runtime_error.
subject_type const& type_named(std::string const& policy);

/// All rounds of the case; the first fault.
heist_test::decision run_case(subject& on, fuzz_case const& c, tally& sum,
                              heist_test::sabotage broken = heist_test::sabotage::none);

/// The case on an executor of its own, up to so many times, until it fails.
heist_test::decision run_alone(fuzz_case const& c, int times, heist_test::sabotage broken = heist_test::sabotage::none);

/// The smallest case found that still fails. It deletes nodes and edges, then traits, then special settings of the run.
/// `fails` is called some hundreds of times.
fuzz_case shrink(fuzz_case c, std::function<bool(fuzz_case const&)> const& fails);

}  // namespace heist_fuzz
