// Steps, the time they take, and medians.
#pragma once

#include <algorithm>  // sort
#include <cstddef>    // size_t
#include <vector>

#include "../stopwatch.hpp"
#include "waiting.hpp"

namespace locality {

/// The first steps of a run are not timed.
struct span_of_steps {
  std::size_t warmup, timed;

  std::size_t all() const { return warmup + timed; }
};

/// One run of a program.
struct timed {
  double seconds = 0;     ///< time of the timed steps
  double work = 0;        ///< elements computed in them
  double first_step = 0;  ///< seconds of the very first step; 0 if not taken
  double has_waited = 0;  ///< seconds that threads had to wait for a CPU meanwhile, all together

  double per_element() const { return 1e9 * seconds / work; }  ///< ns
};

using bench::stopwatch;

/// Runs all steps of a program in this thread; `step(i)` runs one.
template <class P, class F>
timed time_steps(P& program, span_of_steps steps, F const& step) {
  timed result;
  double const has_waited = cpu_wait();
  for (std::size_t i = 0; i < steps.all(); ++i) {
    program.restart();
    stopwatch const watch;
    step(i);
    double const seconds = watch.seconds();
    if (i == 0) result.first_step = seconds;
    if (i < steps.warmup) continue;
    result.seconds += seconds;
    result.work += program.work(i);
  }
  result.has_waited = cpu_wait() - has_waited;
  return result;
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  std::size_t const n = values.size();
  return n == 0 ? 0 : n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace locality
