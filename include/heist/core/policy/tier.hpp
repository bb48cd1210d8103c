// Is a fork/join program divided into tiers, and how: which pool does a fork go to, and which workers may take it?
#pragma once

#include <concepts>

namespace heist {

/// The rule that divides a region's tasks into an inter-squad and an intra-squad tier.
enum class tier_mode {
  none,       ///< nothing: every worker takes everything
  by_level,   ///< the boundary level (CAB)
  by_profile  ///< the data that each task turned out to touch (CATS)
};

namespace tier {

/// Traditional stealing.
struct flat {
  static constexpr tier_mode division = tier_mode::none;
};

/// The requirements on the answer to a policy's fourth question.
// clang-format off
template <class T>
concept tier_policy = requires {
  { T::division } -> std::convertible_to<tier_mode>;
};
// clang-format on

}  // namespace tier
}  // namespace heist
