// Runs whose leaves are noted, and what the simulator's caches say of one whose leaves went where they really went: so the
// caches are compared with the machine's apart from who took what, which differs from run to run.
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

/// One run: what an element took, in ns, and who computed what.
struct placed_run {
  double per_element = 0;
  std::vector<locality::tally::entry> leaves;
  double stayed = 0;     ///< share of what was computed by the worker that had computed it in the sweep before
  bool dynamic = false;  ///< leaf by leaf went to who came first: workers end a sweep a leaf apart at most
};

/// What a thread takes for an element without misses, and waits for a line, in ns: one that its core has dropped, one
/// that another core has touched last.
struct costs_of_lines {
  double element = 0, released = 0, moved = 0;
};

/// Runs `program` under the policy, as bench_locality does.
template <class Policy, class P>
placed_run run_and_note(P& program, locality::options const& wanted, locality::span_of_steps steps) {
  heist::executor<Policy> ex{wanted.for_executor(P::about.stack)};
  heist::region region{{.branching = P::branching, .bytes = program.bytes()}};
  std::size_t const leaves = 2 * (program.rows(0).size() / program.leaf() + 1);
  locality::tally const notes{ex.worker_count(), leaves * steps.all() * P::sweeps_per_step};
  program.prepare();
  locality::timed const time = ex.sync_wait([&](auto ctx) {
    return locality::time_steps(program, steps, [&](std::size_t i) {
      locality::enter(ctx, region, [&](auto c) { program.step(c, i, notes); });
    });
  });
  return {time.per_element(), notes.entries(), notes.shares().same_worker,
          std::is_same_v<Policy, heist::policy::random>};
}

/// What the leaf of these rows touches, as the simulated programs have it (heist/tools/simulate/matrices.hpp).
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

/// ns an element of that run by the simulator's caches and these costs. A sweep lasts as long as its busiest worker takes; of a dynamic
/// run, half a leaf longer than all on average at most, since there it is the costs of single leaves that are wrong,
/// not who took them. `for_a_step`: ns that each step takes besides.
template <class P>
double foretell(P const& program, std::size_t n, placed_run const& run, locality::span_of_steps steps,
                std::size_t workers, std::uint64_t cache, costs_of_lines const& cost, double for_a_step) {
  namespace sim = heist::sim;
  sim::program_builder b{"placed"};
  b.begin(b.add_tree());
  b.work(1);
  std::vector<std::uint32_t> ends;  // behind each leaf's touches
  std::uint32_t touches = 0;
  for (auto const& leaf : run.leaves) {
    touch_as(P::about.name, n, leaf.sweep, leaf.part, b);
    ends.push_back(touches += P::about.name == "ge" ? static_cast<std::uint32_t>(1 + leaf.part.size()) : 2);
  }
  sim::program const all = b.finish();
  sim::options o;
  o.caches.block_bytes = P::about.name == "ge" ? 256 : 1024;  // its rows get shorter
  constexpr double ticks_per_ns = 1000;                       // no tasks here whose costs would have to fit
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
  double longest = 0;  // leaf of the sweep
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
