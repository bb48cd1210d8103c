// The policies that can be chosen.
#pragma once

#include <heist/heist.hpp>
#include <heist/locality.hpp>

namespace locality {

/// Calls f.operator()<Policy>(name) for every policy; the first is what others are compared with. "published": without the
/// region's memory of squads, which the papers do not have.
template <class F>
void for_each_policy(F&& f) {
  f.template operator()<heist::policy::random>("random");
  f.template operator()<heist::policy::cab>("cab");
  f.template operator()<heist::policy::without_memory<heist::policy::cab>>("cab-published");
  f.template operator()<heist::policy::cats>("cats");
  f.template operator()<heist::policy::without_memory<heist::policy::cats>>("cats-published");
  f.template operator()<heist::policy::sampling>("sampling");
  f.template operator()<heist::policy::victim_set>("victim_set");
  f.template operator()<heist::policy::replay>("replay");
  f.template operator()<heist::policy::automatic>("automatic");
}

/// Those that take a region's boundary level.
template <class F>
void for_each_policy_with_boundary_level(F&& f) {
  f.template operator()<heist::policy::cab>("cab");
}

}  // namespace locality
