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

/// A cost of a line in nanoseconds.
inline double line_ns(heist::sim::costs const& c, heist::sim::duration cost) {
  return static_cast<double>(cost.mean) / static_cast<double>(c.line_parts);
}

/// The limits of bandwidth, if there are any.
inline std::string bandwidth_text(heist::sim::options const& how) {
  auto const gigabytes = [](std::uint64_t b) { return fmt::format("{:.3g} GB/s", static_cast<double>(b) / 1000); };
  std::string text;
  if (how.caches.shared_bandwidth != 0)
    text += fmt::format("; a squad's cache delivers at most {}", gigabytes(how.caches.shared_bandwidth));
  if (how.numa.pages != heist::sim::page_placement::ignored) {
    text += fmt::format("; a line from another node costs {:.3g} ns, a node delivers at most {}, and a link {}",
                        line_ns(how.costs, how.costs.far_memory), gigabytes(how.numa.node_bandwidth),
                        gigabytes(how.numa.link_bandwidth));
  } else if (how.caches.memory_bandwidth != 0) {
    text += fmt::format("; memory delivers at most {}", gigabytes(how.caches.memory_bandwidth));
  }
  return text;
}

/// Simulates the recording on one worker of the machine and with the costs of `recorded_on`, and subtracts the simulated
/// time for memory from the work. If that would be nearly all of the work, or more, the program hides memory latency, for
/// example by reading forwards. With `may_scale` calibrate() then scales all costs of lines down until the time fits.
///
/// A program whose tasks declare no footprint stays as it is. Returns a sentence about the result.
inline std::string calibrate(heist::sim::recorded_program& recorded, heist::sim::options& how,
                             heist::sim::options recorded_on, bool may_scale) {
  recorded_on.workers = 1;
  recorded_on.squads = heist::squad_by::automatic;
  auto const program = heist::sim::to_program(recorded);
  auto const memory = [&] {
    auto const r = heist::simulate<heist::policy::random>(program, recorded_on);
    return static_cast<double>(r.time.memory);
  };
  if (heist::simulate<heist::policy::random>(program, recorded_on).cache.accesses == 0) {
    if (recorded.graph) return "what the tasks of a graph touch is not recorded, so caches make no difference here";
    return "no task says what it touches, so caches make no difference here; ctx.footprint(bytes) in the tasks would "
           "tell";
  }
  double const most = (1 - detail::least_left) * static_cast<double>(program.work());
  double const full = memory();
  std::string scaled;
  if (may_scale && full > most) {
    for (auto* all : {&how, &recorded_on}) {
      auto& c = all->costs;
      auto const less = [&](heist::sim::duration& cost) {
        cost.mean = static_cast<heist::sim::ticks>(std::llround(static_cast<double>(cost.mean) * most / full));
      };
      for (auto* cost : {&c.private_hit, &c.shared_hit, &c.memory, &c.far_memory}) less(*cost);
      if (c.transfer) less(*c.transfer);
    }
    scaled = fmt::format(" (at the costs given it would be {}: the program hides a part of it)", time_text(full));
  }
  double const hidden = memory();
  detail::take_out(recorded, hidden);
  return fmt::format(
      "{} of the recorded work is taken for waiting for memory{}; a line from memory costs {:.3g} ns, one "
      "from a squad's cache {:.3g} ns{}",
      time_text(std::min(hidden, most)), scaled, line_ns(how.costs, how.costs.memory),
      line_ns(how.costs, how.costs.shared_hit), bandwidth_text(how));
}

}  // namespace which_policy
