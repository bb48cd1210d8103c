// The candidates in the comparison of a program: OpenMP, blocks placed by hand, other policies, and policy::replay
// under every schedule.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>

#include <fmt/format.h>

#include <algorithm>  // min
#include <cstddef>    // size_t
#include <deque>
#include <map>
#include <string>
#include <utility>  // move
#include <vector>

#include "../locality/candidates.hpp"
#include "../locality/comparison.hpp"
#include "../locality/comparisons.hpp"
#include "../locality/options.hpp"
#include "../locality/tally.hpp"
#include "openmp.hpp"
#include "programs.hpp"
#include "schedules.hpp"

namespace replay {

using locality::candidate;

/// Steps that are not timed: those that are recorded, and enough for a schedule to converge.
inline constexpr std::size_t warmup = 60;

/// Notes which worker computed which part, from a sweep on.
struct late_notes {
  locality::tally const& tally;
  std::size_t from;

  template <class Context>
  void operator()(Context ctx, std::size_t sweep, range part) const {
    if (sweep >= from) tally(ctx, sweep, part);
  }
};

/// Runs of a program on an executor of its own; `enter(context, region, box, block, work, leaf)` is how it runs a
/// phase.
template <class Policy, class P, class Notes, class Enter, class Ended>
locality::timed run_on(heist::executor<Policy>& ex, P& program, locality::span_of_steps steps, Notes const& notes,
                       Enter const& enter, Ended const& ended) {
  program.prepare();
  return ex.invoke([&](auto ctx) {
    return locality::time_steps(program, steps, [&](std::size_t i) {
      program.step(
          [&](std::size_t region, box const& b, block_size s, auto const& work) {
            enter(ctx, region, b, s, work, [&, i](auto c, box const& part) {
              notes(c, i, part.rows);
              work(part);
            });
          },
          i);
      ended(i);
    });
  });
}

/// All contestants of one program.
template <class P>
class entrants {
 public:
  /// All must outlive the contestants.
  entrants(P& program, locality::options const& o, locality::place const& where, locality::span_of_steps steps)
      : program_{program}, options_{o}, where_{where}, steps_{steps} {}

  std::vector<candidate> all() const {
    std::vector<candidate> list;
    auto const add = [&](candidate c) {
      if (options_.needs_policy(c.name)) list.push_back(std::move(c));
    };
    for_each_openmp<P>([&](std::string name, auto* run) { add(openmp(std::move(name), run)); });
    if constexpr (P::by_rows) {
      if (where_.has_cpu_for_each_worker() && !options_.check)
        add(locality::make_by_hand(by_hand, program_, locality::placement::stays, where_.machine, where_.workers,
                                   steps_));
    }
    add(plain<heist::policy::random>("random"));
    add(plain<heist::policy::with_order<heist::policy::random, heist::order::child_first>>("child-first"));
    for (auto const& [name, how] : guidances) add(guided(std::string{name}, how));
    add(automatic());
    return list;
  }

  static constexpr char const* by_hand = "by hand";

 private:
  template <class Run>
  candidate openmp(std::string name, Run* run) const {
    openmp_place const place{&where_.machine, where_.workers, options_.pin};
    return {.name = std::move(name),
            .run = [run, place, &program = program_, steps = steps_] { return run(program, steps, place); }};
  }

  /// A policy that remembers nothing of regions.
  template <class Policy>
  candidate plain(std::string name) const {
    auto const run = [this_ = *this](locality::span_of_steps steps, auto const& notes) {
      heist::executor<Policy> ex{this_.executor_options()};
      auto const phase = [](auto ctx, std::size_t, box const& b, block_size s, auto const& work, auto const& leaf) {
        divide(ctx, b, s, work, leaf, to_blocks{});
      };
      return run_on(ex, this_.program_, steps, notes, phase, [](std::size_t) {});
    };
    candidate c{.name = std::move(name), .run = [run, steps = steps_] { return run(steps, locality::no_notes{}); }};
    if constexpr (P::by_rows) {
      c.look = [run, this_ = *this](candidate& seen) {
        this_.look([&](auto steps, auto const& notes) { run(steps, notes); }, seen);
      };
    }
    return c;
  }

  candidate guided(std::string name, guidance how) const {
    auto const run = [this_ = *this, how](locality::span_of_steps steps, auto const& notes, candidate* seen) {
      heist::executor<heist::policy::replay> ex{this_.executor_options()};
      schedule phases{how, this_.program_.regions(), P::one_tree, ex.worker_count()};
      auto const phase = [&](auto ctx, std::size_t region, box const& b, block_size s, auto const& work,
                             auto const& leaf) { phases.run(ctx, region, b, s, work, leaf); };
      auto const time = run_on(ex, this_.program_, steps, notes, phase, [&](std::size_t i) { phases.end_of_step(i); });
      if (seen != nullptr) seen->note = phases.text();
      return time;
    };
    return {.name = std::move(name),
            .run = [run, steps = steps_] { return run(steps, locality::no_notes{}, nullptr); },
            .look =
                [run, this_ = *this](candidate& seen) {
                  this_.look([&](auto steps, auto const& notes) { run(steps, notes, &seen); }, seen);
                }};
  }

  candidate automatic() const {
    auto const run = [this_ = *this](locality::span_of_steps steps, auto const& notes, candidate* seen) {
      heist::executor<heist::policy::automatic> ex{this_.executor_options()};
      std::deque<heist::region> regions(this_.program_.regions());
      auto const phase = [&](auto ctx, std::size_t region, box const& b, block_size s, auto const& work,
                             auto const& leaf) {
        ctx.invoke(regions[region], [&](auto c) { divide(c, b, s, work, leaf, to_blocks{}); });
      };
      auto const time = run_on(ex, this_.program_, steps, notes, phase, [](std::size_t) {});
      if (seen != nullptr) seen->note = regions[0].explain();
      return time;
    };
    return {.name = "automatic",
            .run = [run, steps = steps_] { return run(steps, locality::no_notes{}, nullptr); },
            .look =
                [run, this_ = *this](candidate& seen) {
                  this_.look([&](auto steps, auto const& notes) { run(steps, notes, &seen); }, seen);
                }};
  }

  /// A run of its own, short, to see where its parts were computed.
  template <class Run>
  void look(Run const& run, candidate& seen) const {
    constexpr std::size_t most = 200;
    locality::span_of_steps const steps{steps_.warmup, std::min(most, steps_.timed)};
    if constexpr (P::by_rows) {
      locality::tally const tally{where_.workers};
      run(steps, late_notes{tally, steps.warmup});
      seen.stays = tally.shares();
      if (seen.name == "coarsened") seen.note += "; " + sizes_of_last_sweep(tally);
    } else {
      run(steps, locality::no_notes{});
    }
  }
  /// A histogram in a line: the paper's Fig. 7.
  static std::string sizes_of_last_sweep(locality::tally const& notes) {
    std::map<std::size_t, std::size_t> tasks;  // by rows
    auto const all = notes.entries();
    for (auto const& e : all) {
      if (e.sweep == all.back().sweep) ++tasks[e.part.size()];
    }
    std::string text = "tasks of the last sweep:";
    for (auto const& [rows, count] : tasks)
      text += fmt::format("{} {} of {} rows", text.back() == ':' ? "" : ",", count, rows);
    return text;
  }

  heist::options executor_options() const { return options_.for_executor(P::about.stack); }

  P& program_;
  locality::options const& options_;
  locality::place const& where_;
  locality::span_of_steps steps_;
};

}  // namespace replay
