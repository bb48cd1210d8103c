// Tries the executions of a harness: all of them up to a number of pre-emptions, or random ones, or one again.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "execution.hpp"
#include "image.hpp"
#include "snapshots.hpp"

namespace model {

/// Builds one execution; called afresh for each, and must do the same each time.
using harness_body = void (*)(execution&);

struct limits {
  scheduler::config config{};
  bool heavy = false;                   // takes a minute: --at-most goes one pre-emption lower
  double seconds = 600;                 // a guard: the needs of a slow machine must fit
  std::uint64_t random_executions = 0;  // instead of depth first
  std::uint64_t seed = 1;
};

struct result {
  std::uint64_t executions = 0;
  std::uint64_t redundant = 0;  // given up, not among the executions
  std::uint64_t moments = 0;    // from which threads resumed, where moments that are alike are merged
  std::uint64_t steps = 0;
  std::uint64_t pruned = 0;
  std::uint64_t outcomes = 0;  // bit n: observe(n) was called in some execution
  double seconds = 0;
  bool complete = false;
  bool failed = false;
  std::string reason;
  std::string replay;
};

namespace detail {
inline harness_body running = nullptr;
inline std::uint64_t observed = 0;
inline std::uint64_t observed_now = 0;
}  // namespace detail

/// Notes outcome `n` (0 to 63) of the running execution, at its end; litmus tests state which ones there are.
inline void observe(int n) noexcept {
  detail::observed_now |= std::uint64_t{1} << n;
}

/// One execution with the decisions that are set. It resumes from the last moment that is kept, if there is one.
inline decision run_once(harness_body body) noexcept {
  if (!kept.empty()) {
    kept.restore();
    detail::observed_now = 0;
    decision const end = sched.go_on();
    if (end == decision::passed) detail::observed |= detail::observed_now;
    return end;
  }
  heap.reset();
  mem.reset();
  decisions.rewind();
  detail::running = body;
  detail::observed_now = 0;
  decision const end = sched.run([] {
    {
      execution x;
      detail::running(x);
      x.finish();
    }
    if (heap.live() != 0) sched.fail("leak: %d allocations were never freed", heap.live());
  });
  if (end == decision::passed) detail::observed |= detail::observed_now;
  return end;
}

inline result explore(harness_body body, limits const& limit) {
  // CPU time, not wall-clock time: a busy machine does not make a search less complete.
  std::clock_t const begin = std::clock();
  auto const elapsed = [&] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  bool const random = limit.random_executions > 0;
  std::uint64_t const steps_before = sched.total_steps();

  auto const next_path = [] {
    bool const more = decisions.advance();
    visited.leave(decisions.length());
    kept.leave(decisions.length());
    return more;
  };

  sched.rule = limit.config;
  sched.random = random;
  if (random) sched.rule.preemptions = limit.config.steps;
  detail::observed = 0;
  decisions.start_search();
  kept.clear();
  sched.start_search([] { return mix(mem.image(), kept.image_outside()); }, [] { kept.take(); });
  result r;
  for (;;) {
    if (random) decisions.start_random(limit.seed + r.executions);
    decision const end = run_once(body);
    ++(end == decision::redundant ? r.redundant : r.executions);
    if (end == decision::pruned) ++r.pruned;
    if (end == decision::failed) {
      r.failed = true;
      r.reason = sched.reason();
      r.replay = decisions.text();
      break;
    }
    if (random ? r.executions == limit.random_executions : !next_path()) {
      r.complete = !random;
      break;
    }
    if ((r.executions + r.redundant) % 256 == 0 && elapsed() > limit.seconds) break;
  }
  r.outcomes = detail::observed;
  r.steps = sched.total_steps() - steps_before;
  r.moments = visited.entered();
  r.seconds = elapsed();
  return r;
}

/// One execution again, with a line per event.
inline decision replay(harness_body body, scheduler::config const& config, std::string const& text) {
  sched.rule = config;
  sched.rule.trace = true;
  decisions.start_replay(text);
  return run_once(body);
}

}  // namespace model
