// Bodies of time_breakdown.hpp.
#pragma once

#include "heist/tools/observe/time_breakdown.hpp"

#include <fmt/core.h>

#include <string_view>

namespace heist {

HEIST_COLD_BODY std::uint64_t time_shares::awake() const noexcept {
  return application + steal + search + application_in_join + steal_in_join + search_in_join;
}

HEIST_COLD_BODY time_shares& time_shares::combine(time_shares const& other, std::uint64_t factor) noexcept {
  for (auto const field :
       {&time_shares::application, &time_shares::steal, &time_shares::search, &time_shares::application_in_join,
        &time_shares::steal_in_join, &time_shares::search_in_join, &time_shares::asleep, &time_shares::wall})
    this->*field += factor * other.*field;
  return *this;
}

HEIST_COLD_BODY time_shares time_report::total() const noexcept {
  time_shares sum;
  for (auto const& w : workers) sum += w;
  return sum;
}

HEIST_COLD_BODY time_report time_report::operator-(time_report const& earlier) const {
  time_report difference = *this;
  for (std::size_t w = 0; w < workers.size(); ++w) difference.workers[w] -= earlier.workers[w];
  return difference;
}

HEIST_COLD_BODY std::string time_report::text(double seconds) const {
  std::string table =
      fmt::format("{:<8}{:>12}{:>9}{:>9}{:>14}{:>9}{:>9}{:>9}{:>18}\n", "", "application", "steal", "search",
                  "in joins: app", "steal", "search", "asleep", seconds > 0 ? "seconds" : "ticks");
  std::uint64_t longest = 0;
  for (auto const& w : workers) longest = std::max(longest, w.wall);
  auto const line = [&](std::string_view title, time_shares const& s) {
    auto const percent = [&](std::uint64_t part) {
      return s.wall == 0 ? 0.0 : 100 * static_cast<double>(part) / static_cast<double>(s.wall);
    };
    table += fmt::format("{:<8}{:>11.2f}%{:>8.2f}%{:>8.2f}%{:>13.2f}%{:>8.2f}%{:>8.2f}%{:>8.2f}%", title,
                         percent(s.application), percent(s.steal), percent(s.search), percent(s.application_in_join),
                         percent(s.steal_in_join), percent(s.search_in_join), percent(s.asleep));
    table += seconds > 0 && longest != 0
                 ? fmt::format("{:>18.6f}\n", seconds * static_cast<double>(s.wall) / static_cast<double>(longest))
                 : fmt::format("{:>18}\n", s.wall);
  };
  for (std::size_t w = 0; w < workers.size(); ++w) line(fmt::format("{}", w), workers[w]);
  line("all", total());
  return table;
}

}  // namespace heist
