// A sentence that says which policy suits best, and by how much.
#pragma once

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "comparison.hpp"

namespace which_policy {

struct decision {
  std::size_t best = 0;              ///< place in comparison::policies
  std::vector<std::size_t> as_good;  ///< policies that are not clearly slower
  std::string headline;              ///< the answer in a sentence ...
  std::string message;               ///< ... followed by reasons and the bound
};

/// A simulated time as readable text.
inline std::string time_text(double nanoseconds) {
  if (nanoseconds < 1e3) return fmt::format("{:.0f} ns", nanoseconds);
  if (nanoseconds < 1e6) return fmt::format("{:.4g} us", nanoseconds / 1e3);
  if (nanoseconds < 1e9) return fmt::format("{:.4g} ms", nanoseconds / 1e6);
  return fmt::format("{:.4g} s", nanoseconds / 1e9);
}

namespace detail {

/// Times with a smaller relative difference count as equal: a simulation is not more exact.
inline constexpr double same_time = 0.02;

inline double time_of(result const& r) {
  return static_cast<double>(r.median.makespan);
}

/// True if the times of their seeds overlap, or the difference is too small.
inline bool is_as_good(result const& other, result const& best) {
  return other.least <= best.most || time_of(other) <= time_of(best) * (1 + same_time);
}

inline std::string joined(std::vector<std::string_view> const& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

/// Names a cost of which the better policy has clearly less, if there is one.
inline std::string reason(result const& best, result const& other) {
  auto const less = [](std::uint64_t few, std::uint64_t many) {
    return many == 0 ? 0.0 : 1 - static_cast<double>(few) / static_cast<double>(many);
  };
  constexpr double plain = 0.1;
  if (double const share = less(best.median.cache.memory, other.median.cache.memory); share > plain)
    return fmt::format(" It fetches {:.0f} % fewer lines from memory.", share * 100);
  if (double const share = less(best.median.steals, other.median.steals); share > plain)
    return fmt::format(" It steals {:.0f} % less often.", share * 100);
  if (double const share = less(best.median.attempts, other.median.attempts); share > plain)
    return fmt::format(" It tries to steal {:.0f} % less often.", share * 100);
  return {};
}

}  // namespace detail

/// Compares the policies on the most workers.
inline decision evaluate(comparison const& c) {
  auto const& row = c.last();
  decision v;
  for (std::size_t p = 1; p < row.size(); ++p) {
    if (row[p].median.makespan < row[v.best].median.makespan) v.best = p;
  }
  for (std::size_t p = 0; p < row.size(); ++p) {
    if (p != v.best && detail::is_as_good(row[p], row[v.best])) v.as_good.push_back(p);
  }
  auto const& best = row[v.best];
  auto const where = fmt::format("On {} worker{}", c.workers.back(), c.workers.back() == 1 ? "" : "s");
  bool const first_is_as_good = v.best == 0 || (!v.as_good.empty() && v.as_good.front() == 0);
  auto const time = [&](std::size_t p) { return time_text(detail::time_of(row[p])); };
  std::string more;
  if (row.size() == 1) {
    v.headline = fmt::format("{} {} takes {}.", where, c.policies[0]->name, time(0));
  } else if (first_is_as_good) {
    v.headline = fmt::format("{} {} is as good as any: {}.", where, c.policies[0]->name, time(0));
    if (v.best != 0)
      more = fmt::format(" {} takes {}, which is no more than chance.", c.policies[v.best]->name, time(v.best));
  } else {
    v.headline =
        fmt::format("{} {} suits best: {}, {:.1f} % less time than {}.", where, c.policies[v.best]->name, time(v.best),
                    100 * (1 - detail::time_of(best) / detail::time_of(row[0])), c.policies[0]->name);
    more = detail::reason(best, row[0]);
    std::vector<std::string_view> names;
    for (auto const p : v.as_good) names.push_back(c.policies[p]->name);
    if (!names.empty()) more += fmt::format(" {} {} as good.", detail::joined(names), names.size() == 1 ? "is" : "are");
  }
  double const bound = c.least_time(c.workers.back());
  v.message = fmt::format("{}{} {} as recorded would be {}.", v.headline, more,
                          c.span >= bound ? "The longest chain of tasks" : "An equal share for everybody of the work",
                          time_text(bound));
  return v;
}

}  // namespace which_policy
