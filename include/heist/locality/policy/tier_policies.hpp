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

/// T, whose regions do not remember which squad ran which inter-squad task: the papers' own rule. Each run decides
/// again to which squad a child goes: its parent's, or the one that steals it.
template <class T>
struct without_memory : T {
  static constexpr bool has_history_squads = false;
};

/// Do regions remember which squad ran which inter-squad task? Unless T says otherwise.
template <class T>
constexpr bool has_history_squads() noexcept {
  if constexpr (requires { T::has_history_squads; }) {
    return T::has_history_squads;
  } else {
    return true;
  }
}

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

/// Policy, a policy with tiers, whose regions do not remember which squad ran which task: without_memory<cab> and
/// without_memory<cats> are CAB and CATS as published. For comparisons.
template <class Policy>
struct without_memory : bundle<typename Policy::victim_type, typename Policy::idle_type, typename Policy::order_type,
                               typename Policy::join_type, tier::without_memory<typename Policy::tier_type>> {
  static_assert(Policy::tier_type::division != tier_mode::none,
                "heist: only policies with tiers remember squads; fix it by without_memory<heist::policy::cab>, "
                "without_memory<heist::policy::cats> or the policy itself.");
};

static_assert(executor_policy<cab> && executor_policy<cats>);

}  // namespace policy
}  // namespace heist
