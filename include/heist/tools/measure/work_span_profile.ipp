// Bodies of work_span_profile.hpp.
#pragma once

#include "heist/tools/measure/work_span_profile.hpp"

#include <fmt/core.h>

#include <algorithm>  // max

namespace heist {

HEIST_COLD_BODY std::string work_span_profile::text() const {
  return fmt::format(
      "work          {:>16} ticks, {} tasks of {:.0f} on average, {} strands (an empty one seems to take {})\n"
      "span          {:>16} ticks, parallelism {:.1f}\n"
      "burdened span {:>16} ticks, parallelism {:.1f} with {} ticks per steal\n",
      work, tasks + 1, task_size(), strands, empty_strand, span, parallelism(), burdened_span, burdened_parallelism(),
      steal_cost);
}

HEIST_COLD_BODY double work_span_profile::ratio(std::uint64_t a, std::uint64_t b) noexcept {
  return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
}

HEIST_COLD_BODY speedup_range work_span_profile::speedup_with(std::uint64_t longest,
                                                              std::size_t workers) const noexcept {
  if (work == 0 || workers == 0) return {0, 0};
  auto const t1 = static_cast<double>(work), t_infinity = static_cast<double>(longest);
  double const share = t1 / static_cast<double>(workers);
  return {t1 / (t_infinity + share), t1 / std::max(t_infinity, share)};
}

}  // namespace heist
