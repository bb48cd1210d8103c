// Recorded times include the time for memory on the machine of the recording. A simulation adds the time for memory on
// another machine, so calibrate() subtracts the recorded part first.
#pragma once

#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <algorithm>  // max, min
#include <cmath>      // llround
#include <cstddef>    // size_t
#include <cstdint>
#include <string>

#include "decision.hpp"

namespace which_policy {

namespace detail {

/// The least share of a task's work that remains.
inline constexpr double least_left = 0.2;

/// Subtracts `memory` from the work of all tasks, in proportion to the bytes that they touch.
inline void take_out(heist::sim::recorded_program& from, double memory) {
  double bytes = 0;
  for (auto const& t : from.tasks) bytes += static_cast<double>(t.bytes);
  for (auto& t : from.tasks) {
    double work = 0;
    for (auto const w : t.work) work += static_cast<double>(w);
    if (work == 0) continue;
    double const share = memory * static_cast<double>(t.bytes) / bytes;
    double const left = std::max(least_left, 1 - share / work);
    for (auto& w : t.work) w = static_cast<std::uint64_t>(std::llround(static_cast<double>(w) * left));
  }
}

}  // namespace detail

/// Simulates the recording on one worker of `recorded_on`, and subtracts the simulated time for memory from the work.
/// If that would be nearly all of the work, or more, the program hides memory latency, for example by reading forwards.
/// With `may_scale` calibrate() then scales the costs of memory down until the time fits.
///
/// A program whose tasks declare no footprint stays as it is. Returns a sentence about the result.
inline std::string calibrate(heist::sim::recorded_program& recorded, heist::sim::options& how,
                             heist::topology::machine const& recorded_on, bool may_scale) {
  auto as_recorded = how;
  as_recorded.workers = 1;
  as_recorded.machine = recorded_on;
  as_recorded.squads = heist::squad_by::automatic;
  auto const program = heist::sim::to_program(recorded);
  auto const memory = [&] {
    as_recorded.costs = how.costs;
    auto const r = heist::simulate<heist::policy::random>(program, as_recorded);
    return static_cast<double>(r.time.memory);
  };
  if (heist::simulate<heist::policy::random>(program, as_recorded).cache.accesses == 0) {
    if (recorded.graph) return "what the tasks of a graph touch is not recorded, so caches make no difference here";
    return "no task says what it touches, so caches make no difference here; ctx.footprint(bytes) in the tasks would "
           "tell";
  }
  auto& costs = how.costs;
  double const most = (1 - detail::least_left) * static_cast<double>(program.work());
  double const full = memory();
  std::string scaled;
  if (may_scale && full > most) {
    for (auto* cost : {&costs.private_hit, &costs.shared_hit, &costs.memory})
      cost->mean = static_cast<heist::sim::ticks>(std::llround(static_cast<double>(cost->mean) * most / full));
    scaled = fmt::format(" (at the costs given it would be {}: the program hides a part of it)", time_text(full));
  }
  double const hidden = memory();
  detail::take_out(recorded, hidden);
  return fmt::format(
      "{} of the recorded work is taken for waiting for memory{}; a line from memory costs {} ns, one "
      "from a squad's cache {} ns",
      time_text(std::min(hidden, most)), scaled, costs.memory.mean, costs.shared_hit.mean);
}

}  // namespace which_policy
