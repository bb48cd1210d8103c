// Whom does a thief try next?
#pragma once

#include <concepts>
#include <cstdint>

#include "heist/base/random.hpp"

namespace heist::victim {

/// What a victim policy may know of the thief that asks.
struct thief_view {
  std::uint32_t self;     ///< the thief's own number
  std::uint32_t workers;  ///< how many there are, at least 1
};

/// What came of the last attempt.
enum class outcome { stolen, empty, lost };

/// Chooses whom a thief robs next.
///
/// Promises  V1  next(me) < me.workers. Naming oneself means the master queue (Algorithm 4, line 5).
///           V2  nobody is left out for ever: a victim with work, and the master queue, are named eventually.
///           V3  feedback() may be ignored: it is advice, not protocol.
/// Threads   one object per worker, used by that worker alone: no atomics, no locks, no allocation.
/// Cost      next() runs on every steal attempt: O(1), no division by a run-time value.
// clang-format off
template <class P>
concept victim_policy =
    std::default_initializable<P> && std::movable<P> &&
    requires(P p, thief_view const& me, fast_random& random, std::uint32_t victim, outcome what) {
      { p.next(me, random) } noexcept -> std::same_as<std::uint32_t>;
      { p.feedback(victim, what) } noexcept -> std::same_as<void>;
    };
// clang-format on

/// Everybody with the same probability, the master queue too: the paper's choice (Algorithm 4).
struct random {
  std::uint32_t next(thief_view const& me, fast_random& random) noexcept { return random.below(me.workers); }
  void feedback(std::uint32_t, outcome) noexcept {}
};
static_assert(victim_policy<random>);

}  // namespace heist::victim
