// The policies that divide programs into two tiers of tasks.
#pragma once

#include <concepts>

#include "heist/core/policy/policies.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/locality/counters/hardware_counters.hpp"

namespace heist {
namespace tier {

/// "CAB: Cache Aware Bi-tier Task-stealing in Multi-socket Multi-core Architecture" (Chen, Huang, Guo, Zhou, ICPP
/// 2011): head workers steal tasks above the boundary level between squads; tasks that these fork below it stay in the
/// squad. boundary_level.hpp computes the level from the region's data size and the squads' shared cache.
struct cab {
  static constexpr tier_mode division = tier_mode::by_level;
};

/// "CATS: Cache Aware Task-Stealing based on Online Profiling in Multi-socket Multi-core Architectures" (Chen, Guo,
/// Huang, ICS 2012): a region's first run is measured. After that cats.hpp divides its tree where the data of a subtree
/// fits into a squad's shared cache.
template <counter_source Counters>
struct cats_measured_by {
  static constexpr tier_mode division = tier_mode::by_profile;
  using counter_type = Counters;
};
/// With the processor's counters.
struct cats : cats_measured_by<hardware_counters> {};

// clang-format off
/// One that measures what tasks do.
template <class T>
concept measuring_tier = tier_policy<T> && requires { typename T::counter_type; } &&
    counter_source<typename T::counter_type>;
// clang-format on

}  // namespace tier

namespace policy {

/// Squads and two tiers, by a boundary level. For executors with <heist/tiers.hpp>.
struct cab : bundle<victim::random, idle::standard, order::by_tier, join::park, tier::cab> {};

/// Squads and two tiers, by the profile of a region's first run. For executors with <heist/tiers.hpp>.
struct cats : bundle<victim::random, idle::standard, order::by_tier, join::park, tier::cats> {};

static_assert(executor_policy<cab> && executor_policy<cats>);

}  // namespace policy
}  // namespace heist
