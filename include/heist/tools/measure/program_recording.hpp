// Records a fork/join program while it runs, so that it can be simulated on other machines and under other policies.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // equal
#include <cstddef>    // size_t
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>  // move

#include "heist/core/base/env.hpp"
#include "heist/core/base/result.hpp"
#include "heist/tools/measure/program_log.hpp"
#include "heist/tools/measure/recording_tracker.hpp"
#include "heist/tools/measure/span_tracker.hpp"
#include "heist/tools/simulate/recorded_program.hpp"

// What is recorded
//
//   Every callable of a fork_join or an inter_fork, and every child of a scope, is a task: its place among its
//   parent's, its code (by type), the bytes that it declares by footprint(), and the time that it takes itself. The
//   clock is read where it begins and ends, and stands still while a fork or a join is at work, or waits.
//
//   The children of a scope between two joins are a group that runs side by side. The task's own work from the first
//   fork to the join is one more child of that group, the first. So the others seem to be there as soon as the first of
//   them is. A join also ends the groups of scopes that the task made later.
//
//   The outermost task's work, and each region that it enters while no scope of its own is at work, are runs, one after
//   another. A region that is entered anywhere else is a part of the task that enters it. Regions are told apart by
//   their addresses.
//
// What is not
//
//   Tasks of submit(), runs of graphs and forks without a context are seen as time of the strand that waits for them.
//   Addresses are not known: two tasks share memory if they have the same place in two runs of one region.
//
// What recording costs
//
//   Two looks at the clock for each strand; what an empty one is measured to take is subtracted. Memory for each task,
//   some 100 bytes while the program runs and 100 more for the result, taken while the task's clock stands still.
//   Time is wall time: what the operating system takes away from a task counts as its work. Record on one worker for
//   the least noise, some times, and keep_shorter(). A program that uses heist::context and not this one pays nothing:
//   it is another type. Its frames are larger, so a deep recursion may need a larger options::stack_size.

namespace heist {

/// Limits of record_program().
struct recording_options {
  std::string name = "program";
  std::size_t most_tasks = 4'000'000;  ///< more are an error; each takes some 200 bytes
};

/// The result of record_program(): the program's result, and the program.
template <class R>
struct program_recording {
  detail::value_or_monostate<R> result;
  sim::recorded_program program;
};

/// Runs `f(context)`, or `f()`, on a worker of `ex` with a context that records it, and waits. Returns its result
/// (std::monostate for void) with the program, or rethrows its exception. Throws sim_error after the run if it had
/// too many tasks, or without memory. `Clock`: ticks() returns the time; a clock other than os_env counts
/// nanoseconds.
///
/// Takes 10 milliseconds at least, to compare the processor's clock with a common one.
template <class Clock = os_env, class Executor, class F>
auto record_program(Executor& ex, F&& f, recording_options options = {}) {
  using task = typename detail::recording_tracker<Clock>::template task<std::remove_reference_t<F>>;
  using result = std::invoke_result_t<task const&, typename Executor::context_type>;
  detail::tick_rate const rate;
  detail::program_log log{ex.worker_count(), options.most_tasks};
  task const outermost{&f, &log, detail::empty_strand<Clock>(), {nullptr, 0, 0, true}};
  auto const program = [&] {
    auto p = log.program(rate.template nanoseconds<Clock>());
    p.name = std::move(options.name);
    p.recorded_on =
        fmt::format("{} worker{}, {}", ex.worker_count(), ex.worker_count() == 1 ? "" : "s", ex.machine().to_text());
    return p;
  };
  if constexpr (std::is_void_v<result>) {
    ex.invoke(outermost);
    return program_recording<result>{{}, program()};
  } else {
    return program_recording<result>{ex.invoke(outermost), program()};  // braces: from left to right
  }
}

/// Merges two recordings of the same program with the same input. If the time of a strand in `other` is shorter by half
/// a microsecond or more, `best` was interrupted, and takes the time of `other`. Smaller differences are left, since
/// the least of some would be too short. False, and nothing is changed, if the two have different tasks.
inline bool keep_shorter(sim::recorded_program& best, sim::recorded_program const& other) {
  constexpr std::uint64_t interruption = 500;
  auto const same_runs = [](sim::recorded_run const& a, sim::recorded_run const& b) {
    return a.root == b.root && a.region == b.region;
  };
  auto const same_place = [](sim::recorded_task const& a, sim::recorded_task const& b) {
    return a.parent == b.parent && a.index == b.index && a.group == b.group && a.work.size() == b.work.size();
  };
  if (!std::equal(best.runs.begin(), best.runs.end(), other.runs.begin(), other.runs.end(), same_runs) ||
      !std::equal(best.tasks.begin(), best.tasks.end(), other.tasks.begin(), other.tasks.end(), same_place))
    return false;
  for (std::size_t i = 0; i < best.tasks.size(); ++i) {
    auto& work = best.tasks[i].work;
    for (std::size_t j = 0; j < work.size(); ++j) {
      std::uint64_t const again = other.tasks[i].work[j];
      if (again + interruption <= work[j]) work[j] = again;
    }
  }
  return true;
}

}  // namespace heist
