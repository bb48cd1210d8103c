// Measures the work and the span of a fork/join program, by a context that looks at the clock at every fork and join.
#pragma once

#include <cstdint>
#include <type_traits>

#include "heist/core/base/env.hpp"
#include "heist/core/base/result.hpp"
#include "heist/tools/measure/instrumented_context.hpp"
#include "heist/tools/measure/span_tracker.hpp"
#include "heist/tools/measure/work_span_profile.hpp"

// What is counted
//
//   A strand is a task's work between two forks or joins of its own. The clock is read at its begin and at its end. The
//   clock stands still for the task while a fork or a join works or waits. Work is the sum of all strands, span the
//   largest sum along a chain of them. Both are the program's own time, without the library.
//
//   Burdened: a child that its parent does not continue with itself begins steal_cost later. If it is cheaper to run
//   all children of that fork one after the other, they are counted so. With steal_cost 0 it is the span.
//
// What measuring costs
//
//   Two looks at the clock for each strand; about one of the two is counted with the strand, since nothing is
//   subtracted by guess. So strands of a few dozen cycles seem longer than they are. The profile tells the time of an
//   empty strand (20 to 40 cycles on x86-64); work / strands is the average time of a strand. The compiler also inlines
//   less than without. A program that uses heist::context and not this one pays nothing: it is another type.
//
//   Time is wall time: an interruption by the operating system, or the wait for a future, counts as work of the strand.
//   A single long interruption may become the span. Measure with as many workers as there are idle CPUs, one for the
//   least noise: neither work nor span depends on their number.

namespace heist {

/// Assumptions of measure_work_span().
struct work_span_options {
  std::uint64_t steal_cost = 1000;  ///< in ticks
};

/// The result of measure_work_span(): the program's result, and its profile.
template <class R>
struct work_span_measurement {
  detail::value_or_monostate<R> result;
  work_span_profile profile;
};

/// Runs `f(context)`, or `f()`, on a worker of `ex` with a context that measures it, and waits. Returns its result
/// (std::monostate for void) with the profile, or rethrows its exception. `Clock`: ticks() returns the time.
template <class Clock = os_env, class Executor, class F>
auto measure_work_span(Executor& ex, F&& f, work_span_options options = {}) {
  using function = std::remove_reference_t<F>;
  using task = typename detail::span_tracker<Clock>::template task<function>;
  using result = std::invoke_result_t<task const&, typename Executor::context_type>;
  detail::span_totals all;
  task const root{&f, &all, options.steal_cost};
  auto const profile = [&] {
    return work_span_profile{
        all.work, all.span, all.burdened, all.tasks, all.strands, options.steal_cost, detail::empty_strand<Clock>()};
  };
  if constexpr (std::is_void_v<result>) {
    ex.invoke(root);
    return work_span_measurement<result>{{}, profile()};
  } else {
    return work_span_measurement<result>{ex.invoke(root), profile()};  // braces: from left to right
  }
}

}  // namespace heist
