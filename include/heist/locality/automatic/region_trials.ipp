// Bodies of region_trials.hpp.
#pragma once

#include "heist/locality/automatic/region_trials.hpp"

#include <fmt/core.h>

#include "heist/core/base/errors.hpp"

namespace heist::detail {

/// Runs without steals show only that the other workers were late: at most so many are recorded.
inline constexpr std::size_t most_recorded = 3;
inline constexpr std::size_t is_followed = ~std::size_t{0};

HEIST_COLD_BODY region_trials::region_trials(core& scheduler, others& by)
    : others_{by},
      executor_{scheduler.serial()},
      tuner_{tuner_for(ways_for_regions, scheduler, by)},
      histories_(std::size(ways_for_regions)),
      recorded_(std::size(ways_for_regions)) {}

HEIST_COLD_BODY std::size_t region_trials::begin(region const& r) {
  there_ = nullptr;
  while ((way_ = tuner_.next()) != 0) {
    if (make_ready(way_, r)) break;
    tuner_.rule_out(way_);
  }
  if (way_ == 0) there_ = nullptr;  // a way that is not possible may have named one
  return way_;
}

HEIST_COLD_BODY bool region_trials::make_ready(std::size_t which, region const& r) {
  way_to_run const& way = ways_for_regions[which];
  there_ = way.by ? others_.get(*way.by) : nullptr;
  if (way.by && there_ == nullptr) return false;
  if (histories_[which] == nullptr) {
    region_options wanted = r.options();
    if (way.level != 0) {
      auto const level = histories_[1] == nullptr ? std::nullopt : histories_[1]->boundary_level();
      // By hand is by hand; and the region's body, level 1, is in one squad as a whole.
      if (wanted.boundary_level || wanted.tiers_by_hand || !level || *level == 0) return false;
      auto const changed = static_cast<std::int64_t>(*level) + way.level;
      if (changed < 2) return false;
      wanted.boundary_level = static_cast<std::uint32_t>(changed);
    }
    histories_[which] = std::make_unique<region>(wanted);
    if (way.by) made_by(tuner_, ways_for_regions, *way.by);
  }
  return way.by != other_policy::replay || follow(which);
}

/// Along the steal tree of a run that was recorded, if there is one already.
HEIST_COLD_BODY bool region_trials::follow(std::size_t which) {
  region& memory = *histories_[which];
  std::size_t& recorded = recorded_[which];
  if (recorded == is_followed || memory.tree().empty()) return true;
  if (memory.tree().steal_count() == 0 && ++recorded != most_recorded) {
    tuner_.learns_again(which);
    return true;
  }
  try {
    memory.follow(memory.tree(), ways_for_regions[which].mode);
  } catch (std::exception const&) {
    return false;
  }
  recorded = is_followed;
  return true;
}

HEIST_COLD_BODY void region_trials::ran(std::int64_t nanoseconds) {
  tuner_.ran(way_, static_cast<double>(nanoseconds > 0 ? nanoseconds : 1));
}

HEIST_COLD_BODY std::string region_trials::name_of_best() const {
  std::size_t const best = tuner_.best();
  std::string name = ways_for_regions[best].name;
  if (histories_[best] != nullptr) {
    if (auto const level = histories_[best]->boundary_level(); level)
      name += *level == 0 ? ", not divided" : fmt::format(", boundary level {}", *level);
  }
  return name;
}

HEIST_COLD_BODY void region_trials::note(region_access const& in) const {
  in.explanation() = note_on(tuner_, name_of_best());
  in.level() = way_ == 0 ? std::nullopt : histories_[way_]->boundary_level();
}

}  // namespace heist::detail
