// Is a fork/join program divided into tiers, and how: which pool does a fork go to, and who may take it?
#pragma once

#include <concepts>

#include "heist/observe/hardware_counters.hpp"

namespace heist {

/// What divides a region's tasks into an inter-squad and an intra-squad tier.
enum class tiering {
  none,       ///< nothing: every worker takes everything
  by_level,   ///< the boundary level (CAB)
  by_profile  ///< the data that each task turned out to touch (CATS)
};

namespace tier {

/// Traditional stealing.
struct flat {
  static constexpr tiering division = tiering::none;
};

/// "CAB: Cache Aware Bi-tier Task-stealing in Multi-socket Multi-core Architecture" (Chen, Huang, Guo, Zhou, ICPP
/// 2011): tasks above the boundary level, which boundary_level.hpp computes from the region's data size and the squads'
/// shared cache, are stolen between squads by their head workers; what they fork below it stays in the squad.
struct cab {
  static constexpr tiering division = tiering::by_level;
};

/// "CATS: Cache Aware Task-Stealing based on Online Profiling in Multi-socket Multi-core Architectures" (Chen, Guo,
/// Huang, ICS 2012): a region's first run is measured, and cats.hpp divides its tree where the data of a subtree fits
/// into a squad's shared cache.
template <counter_source Counters>
struct cats_measured_by {
  static constexpr tiering division = tiering::by_profile;
  using counter_type = Counters;
};
struct cats : cats_measured_by<hardware_counters> {};

/// What a policy's fourth question is answered by.
// clang-format off
template <class T>
concept tier_policy = requires {
  { T::division } -> std::convertible_to<tiering>;
};
/// One that measures what tasks do.
template <class T>
concept measuring_tier = tier_policy<T> && requires { typename T::counter_type; } &&
    counter_source<typename T::counter_type>;
// clang-format on

}  // namespace tier
}  // namespace heist
