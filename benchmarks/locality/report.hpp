// Comparisons as tables for people and as JSON.
#pragma once

#include <algorithm>  // minmax_element
#include <cstddef>    // size_t
#include <cstdio>     // fflush
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "comparison.hpp"

namespace locality {

inline std::string bytes_text(std::size_t bytes) {
  return bytes < 1 << 20 ? fmt::format("{:.1f} KiB", static_cast<double>(bytes) / (1 << 10))
                         : fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

inline std::string percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

inline void print(comparison const& all) {
  fmt::print("\n{}\n{:26} {:>12} {:>23} {:>8} {:>12} {:>11} {:>12} {:>8}\n", all.title, "", all.unit, "spread", "ratio",
             "same worker", "same squad", "half stayed", "busiest");
  double const reference = all.reference_time();
  for (candidate const& c : all.candidates) {
    std::string line = fmt::format("{:26}", c.name);
    if (!c.rounds.empty()) {
      auto const [least, most] = std::minmax_element(c.rounds.begin(), c.rounds.end());
      double const time = median(c.rounds);
      line += fmt::format(" {:>12.4g} {:>10.4g} .. {:>9.4g} {:>8}", time / all.scale, *least / all.scale,
                          *most / all.scale, reference > 0 ? fmt::format("{:.3f}", time / reference) : "");
    }
    if (c.stays)
      line += fmt::format(" {:>12} {:>11} {:>12} {:>8}", percent(c.stays->same_worker), percent(c.stays->same_squad),
                          percent(c.stays->half_worker), percent(c.stays->busiest));
    if (!c.wrong.empty()) line += "  WRONG: " + c.wrong;
    fmt::print("{}\n", line);
    if (!c.note.empty()) fmt::print("{:28}{}\n", "", c.note);
  }
  fmt::print("{}", all.summary);
  std::fflush(stdout);  // others may take minutes
}

inline nlohmann::json to_json(comparison const& all) {
  nlohmann::json rows = nlohmann::json::array();
  double const reference = all.reference_time();
  for (candidate const& c : all.candidates) {
    nlohmann::json row{{"name", c.name},
                       {"ns_per_element", c.rounds},
                       {"median", median(c.rounds)},
                       {"first_step_s", median(c.first_steps)},
                       {"waited", c.has_waited},
                       {"wrong", c.wrong},
                       {"note", c.note}};
    if (reference > 0) row["ratio"] = median(c.rounds) / reference;
    if (c.stays) {
      row["same_worker"] = c.stays->same_worker;
      row["same_squad"] = c.stays->same_squad;
      row["half_stayed_worker"] = c.stays->half_worker;
      row["half_stayed_squad"] = c.stays->half_squad;
      row["busiest"] = c.stays->busiest;
    }
    rows.push_back(row);
  }
  return {{"title", all.title}, {"reference", all.reference}, {"contestants", rows}};
}

}  // namespace locality
