// All simulations: each policy on each number of workers, with some seeds.
#pragma once

#include <heist/heist.hpp>
#include <heist/simulate.hpp>

#include <algorithm>  // max, sort
#include <cstddef>    // size_t
#include <cstdint>
#include <vector>

#include "policies.hpp"
#include "progress.hpp"

namespace which_policy {

struct request {
  heist::sim::options how;  ///< workers and seed are filled in
  std::vector<policy_entry const*> policies;
  std::vector<std::uint32_t> workers;  ///< ascending
  std::size_t seeds = 3;
  std::size_t threads = 0;  ///< threads that simulate; 0: one for each CPU that this process may use
};

/// The result of one policy on one number of workers.
struct result {
  heist::sim::report median;  ///< the run of median makespan
  heist::sim::ticks least = 0, most = 0;
};

struct comparison {
  std::vector<policy_entry const*> policies;
  std::vector<std::uint32_t> workers;
  double work = 0, span = 0;                 ///< as recorded, in nanoseconds
  std::vector<std::vector<result>> results;  ///< by workers, then by policies

  /// Bounds if memory is as fast as on the machine of the recording. No policy takes less than least_time(). A greedy
  /// policy without overhead takes at most greedy_time().
  double least_time(std::uint32_t on) const { return std::max({span, work / on, 1.0}); }
  double greedy_time(std::uint32_t on) const { return std::max(span + work / on, 1.0); }
  /// The recorded work over the simulated time.
  double speedup(result const& r) const { return work / std::max(1.0, static_cast<double>(r.median.makespan)); }

  /// The results on the most workers.
  std::vector<result> const& last() const { return results.back(); }
};

/// Runs all simulations, each as a task. Throws the exceptions of simulate().
inline comparison compare(heist::sim::program const& program, request const& wanted, progress& visible) {
  std::vector<heist::future<heist::sim::report>> runs;
  heist::executor<> ex{heist::options{.workers = wanted.threads, .stack_size = std::size_t{4} << 20}};
  for (auto const workers : wanted.workers) {
    for (auto const* policy : wanted.policies) {
      for (std::size_t seed = 1; seed <= wanted.seeds; ++seed) {
        auto how = wanted.how;
        how.workers = workers;
        how.seed = seed;
        runs.push_back(ex.submit([&program, policy, how] { return policy->simulate(program, how); }));
      }
    }
  }
  comparison all{wanted.policies, wanted.workers, 0, 0, {}};
  std::size_t done = 0;
  for (std::size_t w = 0; w < wanted.workers.size(); ++w) {
    auto& row = all.results.emplace_back();
    for (std::size_t p = 0; p < wanted.policies.size(); ++p) {
      std::vector<heist::sim::report> seeds;
      for (std::size_t i = 0; i < wanted.seeds; ++i) {
        seeds.push_back(runs[done].get());
        visible.step("simulation", ++done, runs.size());
      }
      std::sort(seeds.begin(), seeds.end(), [](auto const& a, auto const& b) { return a.makespan < b.makespan; });
      auto const least = seeds.front().makespan, most = seeds.back().makespan;
      row.push_back({std::move(seeds[seeds.size() / 2]), least, most});
    }
  }
  visible.clear();
  return all;
}

}  // namespace which_policy
