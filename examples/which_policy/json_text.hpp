// The comparison as JSON, for other programs.
#pragma once

#include <heist/core/base/json.hpp>

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <string>

#include "comparison.hpp"
#include "decision.hpp"

namespace which_policy {
namespace detail {

inline std::string json_of(std::string_view policy, result const& r, double speedup) {
  auto const& m = r.median;
  return fmt::format(
      R"({{"policy":{},"time":{},"least_time":{},"most_time":{},"speedup":{:.6g},"steals":{},"attempts":{},"looks":{},)"
      R"("private_misses":{},"shared_misses":{},"accesses":{}}})",
      heist::json::quote(policy), m.makespan, r.least, r.most, speedup, m.steals, m.attempts, m.looks,
      m.cache.shared_hits + m.cache.memory, m.cache.memory, m.cache.accesses);
}

}  // namespace detail

/// Times are in nanoseconds, and misses in lines of 64 bytes.
inline std::string to_json(std::string_view program, std::string_view machine, comparison const& c, decision const& v) {
  using heist::json::quote;
  auto text = fmt::format("{{\n\"program\":{},\n\"machine\":{},\n\"work\":{:.0f},\n\"span\":{:.0f},\n\"results\":[",
                          quote(program), quote(machine), c.work, c.span);
  for (std::size_t w = 0; w < c.workers.size(); ++w) {
    auto const& m = c.results[w].front().median;
    text +=
        fmt::format("{}\n{{\"workers\":{},\"squads\":{},\"lower_bound\":{:.0f},\"upper_bound\":{:.0f},\"policies\":[",
                    w == 0 ? "" : ",", m.workers, m.squads, c.least_time(m.workers), c.greedy_time(m.workers));
    for (std::size_t p = 0; p < c.policies.size(); ++p) {
      text += p == 0 ? "\n  " : ",\n  ";
      text += detail::json_of(c.policies[p]->name, c.results[w][p], c.speedup(c.results[w][p]));
    }
    text += "]}";
  }
  text += fmt::format("],\n\"best\":{},\n\"as_good\":[", quote(c.policies[v.best]->name));
  for (std::size_t i = 0; i < v.as_good.size(); ++i) {
    if (i != 0) text += ",";
    text += quote(c.policies[v.as_good[i]]->name);
  }
  return text + fmt::format("],\n\"sentence\":{}\n}}\n", quote(v.message));
}

}  // namespace which_policy
