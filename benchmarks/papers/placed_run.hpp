// Runs that record which worker ran each leaf, and a prediction of their time from the simulator's caches. The
// prediction uses the recorded placement. The choices of the thieves, which differ from run to run, therefore do not
// affect it.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/simulate.hpp>

#include <algorithm>  // max, max_element, min
#include <cstddef>    // size_t
#include <cstdint>
#include <numeric>  // accumulate, iota
#include <string_view>
#include <type_traits>  // is_same
#include <vector>

#include "../locality/candidates.hpp"
#include "../locality/regions.hpp"
#include "../locality/tally.hpp"
#include "../locality/timing.hpp"

namespace papers {

/// One run: the time for an element in ns, and the worker of each leaf.
struct placed_run {
  double per_element = 0;
  std::vector<locality::tally::entry> leaves;
  double stayed = 0;     ///< share of the work whose worker is that of the sweep before
  bool dynamic = false;  ///< workers take leaves one by one, and end a sweep at most a leaf apart
};

/// Costs in ns. `element`: an element without misses. `released`: a line that the thread's core has dropped. `moved`: a
/// line that another core touched last.
struct costs_of_lines {
  double element = 0, released = 0, moved = 0;
};

/// Runs `program` under the policy as bench_locality does, and records its leaves.
template <class Policy, class P>
placed_run run_and_note(P& program, locality::options const& wanted, locality::span_of_steps steps) {
  heist::executor<Policy> ex{wanted.for_executor(P::about.stack)};
  heist::region region{{.branching = P::branching, .bytes = program.bytes()}};
  std::size_t const leaves = 2 * (program.rows(0).size() / program.leaf() + 1);
  locality::tally const notes{ex.worker_count(), leaves * steps.all() * P::sweeps_per_step};
  program.prepare();
  locality::timed const time = ex.invoke([&](auto ctx) {
    return locality::time_steps(program, steps, [&](std::size_t i) {
      locality::enter(ctx, region, [&](auto c) { program.step(c, i, notes); });
    });
  });
  return {time.per_element(), notes.entries(), notes.shares().same_worker,
          std::is_same_v<Policy, heist::policy::random>};
}

/// Adds to `b` the touches of a leaf with these rows, as in the simulated programs (heist/tools/simulate/matrices.hpp).
inline void touch_as(std::string_view name, std::size_t n, std::size_t sweep, locality::range part,
                     heist::sim::program_builder& b) {
  std::uint64_t const row = n * sizeof(double), array = (n * row / 4096 + 1) * 4096;
  if (name == "ge") {
    auto const from_pivot = [&](std::size_t r, bool writes) {
      b.touch(r * row + sweep * sizeof(double), row - sweep * sizeof(double), writes);
    };
    from_pivot(sweep, false);
    for (std::size_t r = part.first; r != part.last; ++r) from_pivot(r, true);
    return;
  }
  std::uint64_t const from = name == "heat" ? sweep % 2 : 0, to = name == "heat" ? 1 - from : 0;
  b.touch(from * array + (part.first - 1) * row, (part.size() + 2) * row, false);
  b.touch(to * array + part.first * row, part.size() * row, true);
}

/// Predicts the time of `run` in ns for an element, from the simulator's caches and `cost`. A sweep lasts as long as
/// its busiest worker. In a dynamic run it lasts at most half a leaf longer than the workers' average. There a large
/// difference comes from wrong costs of single leaves, because a worker that ends early takes the next leaf.
/// `for_a_step`: additional ns of each step.
template <class P>
double foretell(P const& program, std::size_t n, placed_run const& run, locality::span_of_steps steps,
                std::size_t workers, std::uint64_t cache, costs_of_lines const& cost, double for_a_step) {
  namespace sim = heist::sim;
  sim::program_builder b{"placed"};
  b.begin(b.add_tree());
  b.work(1);
  std::vector<std::uint32_t> ends;  // the end of each leaf's touches
  std::uint32_t touches = 0;
  for (auto const& leaf : run.leaves) {
    touch_as(P::about.name, n, leaf.sweep, leaf.part, b);
    ends.push_back(touches += P::about.name == "ge" ? static_cast<std::uint32_t>(1 + leaf.part.size()) : 2);
  }
  sim::program const all = b.finish();
  sim::options o;
  o.caches.block_bytes = P::about.name == "ge" ? 256 : 1024;  // its rows shrink
  constexpr double ticks_per_ns = 1000;                       // no scheduling costs use these ticks
  auto const ticks = [](double ns) { return static_cast<sim::ticks>(ns * ticks_per_ns + 0.5); };
  o.costs.shared_hit = 0;
  o.costs.memory = ticks(cost.released);
  o.costs.transfer = ticks(cost.moved);
  std::vector<std::uint32_t> squad_of(workers);
  std::iota(squad_of.begin(), squad_of.end(), 0u);
  sim::memory caches{all, o, {.of_worker = 0, .of_squad = cache}, squad_of, workers};
  heist::fast_random random{1};
  sim::cache_misses seen;
  double ticks_of_all = 0, elements = 0;
  std::vector<double> busy(workers);
  double longest = 0;  // the longest leaf of the sweep
  std::size_t const first_timed = steps.warmup * P::sweeps_per_step;
  for (std::size_t i = 0; i != run.leaves.size(); ++i) {
    auto const& leaf = run.leaves[i];
    double const computed = program.work(leaf.sweep / P::sweeps_per_step) / static_cast<double>(P::sweeps_per_step) *
                            static_cast<double>(leaf.part.size()) /
                            static_cast<double>(program.rows(leaf.sweep).size());
    double time = computed * cost.element * ticks_per_ns;
    for (std::uint32_t t = i == 0 ? 0 : ends[i - 1]; t != ends[i]; ++t)
      time += static_cast<double>(caches.access(static_cast<std::uint32_t>(leaf.worker), t, seen, random));
    busy[leaf.worker] += time;
    longest = std::max(longest, time);
    if (leaf.sweep >= first_timed) elements += computed;
    if (i + 1 != run.leaves.size() && run.leaves[i + 1].sweep == leaf.sweep) continue;
    double lasts = *std::max_element(busy.begin(), busy.end());
    if (run.dynamic) {
      double const average = std::accumulate(busy.begin(), busy.end(), 0.) / static_cast<double>(workers);
      lasts = std::min(lasts, average + longest / 2);
    }
    if (leaf.sweep >= first_timed) ticks_of_all += lasts;
    busy.assign(workers, 0);
    longest = 0;
  }
  double const ns = ticks_of_all / ticks_per_ns + static_cast<double>(steps.timed) * for_a_step;
  return ns / elements;
}

}  // namespace papers
