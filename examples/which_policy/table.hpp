// The comparison as tables.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // max
#include <cstddef>    // size_t
#include <string>
#include <string_view>

#include "comparison.hpp"
#include "decision.hpp"

namespace which_policy {

inline std::string plural(std::size_t n, char const* one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

/// The recorded program, the machine, and the bounds.
inline std::string to_text(heist::sim::recorded_program const& recorded, heist::topology::machine const& machine,
                           std::string_view memory, comparison const& c) {
  auto const& any = c.last().front().median;
  auto text = fmt::format("program      {}: {}", recorded.name, plural(recorded.tasks.size(), "task"));
  text += recorded.graph ? fmt::format(" in {} of a graph", plural(recorded.graph_runs, "run"))
                         : fmt::format(" in {}", plural(recorded.runs.size(), "run"));
  text += fmt::format("; work {}, span {}, parallelism {:.1f}\n", time_text(c.work), time_text(c.span),
                      c.work / std::max(1.0, c.span));
  if (!recorded.recorded_on.empty()) text += fmt::format("recorded on  {}\n", recorded.recorded_on);
  text += fmt::format("machine      {}; {} in {}\n", machine.to_text(), plural(any.workers, "worker"),
                      plural(any.squads, "squad"));
  text += fmt::format("memory       {}\n", memory);
  text += fmt::format("bounds       {} or more; with a greedy policy that costs nothing {} or less\n",
                      time_text(c.least_time(any.workers)), time_text(c.greedy_time(any.workers)));
  return text;
}

/// A table of the policies on the most workers.
inline std::string policy_table(comparison const& c) {
  auto text =
      fmt::format("{:<20} {:>11} {:>13} {:>9} {:>9} {:>10} {:>12} {:>14} {:>14}\n", "policy", "time", "of the seeds",
                  "speed-up", "of bound", "steals", "attempts", "private misses", "shared misses");
  for (std::size_t p = 0; p < c.policies.size(); ++p) {
    auto const& r = c.last()[p];
    auto const& m = r.median;
    double const time = detail::time_of(r);
    text += fmt::format("{:<20} {:>11} {:>6.1f} {:>+5.1f}% {:>9.1f} {:>8.1f}% {:>10} {:>12}", c.policies[p]->name,
                        time_text(time), 100 * (static_cast<double>(r.least) / time - 1),
                        100 * (static_cast<double>(r.most) / time - 1), c.speedup(r),
                        100 * c.least_time(m.workers) / time, m.steals, m.attempts);
    text += m.cache.accesses == 0
                ? fmt::format(" {:>14} {:>14}\n", "-", "-")
                : fmt::format(" {:>14} {:>14}\n", m.cache.shared_hits + m.cache.memory, m.cache.memory);
  }
  return text;
}

/// The speed-up of each policy on each number of workers. A star marks the shortest time of a line.
inline std::string worker_table(comparison const& c) {
  constexpr std::size_t least_width = 9;
  auto text = fmt::format("{:>7} {:>9}", "workers", "at most");
  for (auto const* p : c.policies) text += fmt::format(" {:>{}}", p->name, std::max(least_width, p->name.size()));
  text += '\n';
  for (std::size_t w = 0; w < c.workers.size(); ++w) {
    auto const& row = c.results[w];
    auto best = row.front().median.makespan;
    for (auto const& r : row) best = std::min(best, r.median.makespan);
    text += fmt::format("{:>7} {:>9.1f}", c.workers[w], c.work / c.least_time(c.workers[w]));
    for (std::size_t p = 0; p < row.size(); ++p) {
      text +=
          fmt::format(" {:>{}}", fmt::format("{}{:.1f}", row[p].median.makespan == best ? "*" : "", c.speedup(row[p])),
                      std::max(least_width, c.policies[p]->name.size()));
    }
    text += '\n';
  }
  return text;
}

/// How policies with tiers divided the regions, one line each.
inline std::string notes(comparison const& c) {
  std::string text;
  for (std::size_t p = 0; p < c.policies.size(); ++p) {
    for (auto const& note : c.last()[p].median.notes) text += fmt::format("{:<12} {}\n", c.policies[p]->name, note);
  }
  return text;
}

}  // namespace which_policy
