// The policies that can be chosen.
#pragma once

#include <heist/heist.hpp>

namespace locality {

/// Calls f.operator()<Policy>(name) for every policy; the first is what others are compared with.
template <class F>
void for_each_policy(F&& f) {
  f.template operator()<heist::policy::random>("random");
  f.template operator()<heist::policy::cab>("cab");
  f.template operator()<heist::policy::cats>("cats");
  f.template operator()<heist::policy::sampling>("sampling");
  f.template operator()<heist::policy::victim_set>("victim_set");
  f.template operator()<heist::policy::replay>("replay");
}

/// Those that take a region's boundary level.
template <class F>
void for_each_policy_with_boundary_level(F&& f) {
  f.template operator()<heist::policy::cab>("cab");
}

}  // namespace locality
