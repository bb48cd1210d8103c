// What can be tried for a region and for a graph, in the order in which it is.
#pragma once

#include <cstddef>  // size_t
#include <span>
#include <string>
#include <vector>

#include "heist/automatic/chooser.hpp"
#include "heist/automatic/others.hpp"
#include "heist/base/config.hpp"
#include "heist/policy/replay_mode.hpp"

namespace heist::detail {

/// One way to run a region or a graph. The first of each list is random stealing by the executor itself.
struct way_to_run {
  char const* name;
  other_policy by = other_policy::cab;
  replay_mode mode = replay_mode::relaxed;  ///< with policy::replay
  int level = 0;                            ///< with policy::cab: added to the boundary level that it computes
  std::size_t learning = 2;                 ///< runs that show nothing: the first learns, the second fills caches
};

inline constexpr way_to_run ways_for_regions[] = {
    {.name = "random", .learning = 1},
    {.name = "cab"},
    {.name = "cab", .level = -1},
    {.name = "cab", .level = 1},
    {.name = "cats", .by = other_policy::cats},
    {.name = "replay, relaxed", .by = other_policy::replay},
    {.name = "replay, strict_unordered", .by = other_policy::replay, .mode = replay_mode::strict_unordered},
    {.name = "replay, strict_ordered", .by = other_policy::replay, .mode = replay_mode::strict_ordered}};

/// A graph has the same squads under policy::cab and policy::cats.
inline constexpr way_to_run ways_for_graphs[] = {
    {.name = "random", .learning = 1},
    {.name = "squads"},
    {.name = "replay, relaxed", .by = other_policy::replay},
    {.name = "replay, strict_unordered", .by = other_policy::replay, .mode = replay_mode::strict_unordered},
    {.name = "replay, strict_ordered", .by = other_policy::replay, .mode = replay_mode::strict_ordered}};

/// For that executor: one worker has nothing to choose, one squad is no squad.
chooser chooser_for(std::span<way_to_run const> ways, core const& home);

/// What was found, as a sentence; `name` is the best way's.
std::string note_on(chooser const& choice, std::string const& name);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/automatic/ways.ipp"
#endif
