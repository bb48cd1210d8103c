// The ways that can be tried for a region and for a graph, in the order of the trials.
#pragma once

#include <cstddef>  // size_t
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/locality/automatic/others.hpp"
#include "heist/locality/automatic/tuner.hpp"
#include "heist/locality/policy/replay_mode.hpp"

namespace heist::detail {

/// One way to run a region or a graph. The first of each list is random stealing by the executor itself.
struct way_to_run {
  char const* name;
  tier_mode tiers = tier_mode::none;              ///< of a region that the executor runs itself
  std::optional<other_policy> by = std::nullopt;  ///< another executor runs it
  replay_mode mode = replay_mode::relaxed;        ///< with policy::replay
  int level = 0;                                  ///< added to the boundary level that follows from the data
  double start = 0;          ///< nanoseconds that its first run takes besides: to profile, to get memory
  std::size_t learning = 2;  ///< runs that show nothing: the first learns, the second fills caches
};

inline constexpr way_to_run ways_for_regions[] = {
    {.name = "random", .learning = 1},
    {.name = "cab", .tiers = tier_mode::by_level},
    {.name = "cab", .tiers = tier_mode::by_level, .level = -1},
    {.name = "cab", .tiers = tier_mode::by_level, .level = 1},
    {.name = "cats", .tiers = tier_mode::by_profile, .start = 2e5},
    {.name = "replay, relaxed", .by = other_policy::replay},
    {.name = "replay, strict_unordered", .by = other_policy::replay, .mode = replay_mode::strict_unordered},
    {.name = "replay, strict_ordered", .by = other_policy::replay, .mode = replay_mode::strict_ordered}};

/// A graph has the same squads under policy::cab and policy::cats.
inline constexpr way_to_run ways_for_graphs[] = {
    {.name = "random", .learning = 1},
    {.name = "squads", .by = other_policy::cab},
    {.name = "replay, relaxed", .by = other_policy::replay},
    {.name = "replay, strict_unordered", .by = other_policy::replay, .mode = replay_mode::strict_unordered},
    {.name = "replay, strict_ordered", .by = other_policy::replay, .mode = replay_mode::strict_ordered}};

/// For that executor: one worker has nothing to choose, one squad is no squad, and other executors have to be made.
tuner tuner_for(std::span<way_to_run const> ways, core const& scheduler, others const& by);

/// Tells `t` that the executor `by` now exists.
void made_by(tuner& t, std::span<way_to_run const> ways, other_policy by);

/// The result as a sentence; `name` is the best way's.
std::string note_on(tuner const& t, std::string const& name);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/automatic/ways.ipp"
#endif
