// Which worker does a thief try next?
#pragma once

#include <concepts>
#include <cstdint>

#include "heist/core/base/random.hpp"

namespace heist::topology {
struct machine;
struct squads;
}  // namespace heist::topology

namespace heist::victim {

/// The thief, as a victim policy sees it.
struct thief_view {
  std::uint32_t self;     ///< the thief's own number
  std::uint32_t workers;  ///< how many there are, at least 1
};

/// The result of the last attempt.
enum class outcome { stolen, empty, lost };

/// A look at a worker without a steal: a rough snapshot.
struct offer {
  std::uint32_t tasks = 0;  ///< how many it could take; 0: none
  std::uint32_t depth = 0;  ///< forks between the one that it would get and the root of its computation
};

/// Chooses the next victim of a thief.
///
/// Promises  V1  next(me) < me.workers. The thief's own number means the injection queue (Algorithm 4, line 5).
///           V2  each victim with work, and the injection queue, is named eventually.
///           V3  feedback() may be ignored: it is advice, not protocol.
/// Threads   one object per worker, used by that worker alone: no atomics, no locks, no allocation (but in begin()
///           and place()).
/// Cost      next() runs on every steal attempt: O(1), no division by a run-time value.
///
/// The four concepts after it are for policies that want to know more. A caller may leave all of that out, and V1 and
/// V2 hold all the same. The executor leaves out calls that a policy does not ask for, at no cost.
// clang-format off
template <class P>
concept victim_policy =
    std::default_initializable<P> && std::movable<P> &&
    requires(P p, thief_view const& me, fast_random& random, std::uint32_t victim, outcome what) {
      { p.next(me, random) } noexcept -> std::same_as<std::uint32_t>;
      { p.feedback(victim, what) } noexcept -> std::same_as<void>;
    };
// clang-format on

/// A victim policy with begin(): it is called before the first next() of each search, and may allocate.
// clang-format off
template <class P>
concept search_policy =
    victim_policy<P> &&
    requires(P p, thief_view const& me, fast_random& random) {
      { p.begin(me, random) } noexcept -> std::same_as<void>;
    };

/// A victim policy that is told when a victim had nothing because it searches itself, after the attempt's feedback().
/// A victim that sleeps does not search.
template <class P>
concept thief_counting_policy =
    victim_policy<P> &&
    requires(P p, std::uint32_t victim) {
      { p.met_thief(victim) } noexcept -> std::same_as<void>;
    };

/// A victim policy that looks before it steals. If wants_look() is true after next(), the caller looks at the named
/// worker instead of stealing from it. The caller then passes what this worker offers to looked(), and calls next()
/// again.
///
/// Promises  V4  that ends after finitely many looks, with any offers; the thief never looks at itself.
template <class P>
concept sampling_policy =
    victim_policy<P> &&
    requires(P p, P const& asked, std::uint32_t victim, offer const& what) {
      { asked.wants_look() } noexcept -> std::same_as<bool>;
      { p.looked(victim, what) } noexcept -> std::same_as<void>;
    };

/// A victim policy that is told where the workers are: place() comes once, before the first search, and may allocate.
/// It is given the whole machine, and the squad of every worker (core/topology/machine.hpp, core/topology/squads.hpp); both are
/// gone when it returns. A policy that chooses within one squad only is not told.
template <class P>
concept placed_policy =
    victim_policy<P> &&
    requires(P p, thief_view const& me, topology::machine const& machine, topology::squads const& squads) {
      { p.place(me, machine, squads) } noexcept -> std::same_as<void>;
    };

/// A victim policy without members that look like those above but cannot be called so: they never would be.
template <class P>
concept whole_victim_policy =
    victim_policy<P> &&
    (search_policy<P> || !requires { &P::begin; }) &&
    (thief_counting_policy<P> || !requires { &P::met_thief; }) &&
    (sampling_policy<P> || !(requires { &P::wants_look; } || requires { &P::looked; })) &&
    (placed_policy<P> || !requires { &P::place; });

/// Compares two offers.
template <class R>
concept offer_rank =
    requires(offer const& a, offer const& b) {
      { R::better(a, b) } noexcept -> std::same_as<bool>;
    };
// clang-format on

/// Each worker and the injection queue with the same probability: the paper's choice (Algorithm 4).
struct random {
  std::uint32_t next(thief_view const& me, fast_random& dice) noexcept { return dice.below(me.workers); }
  void feedback(std::uint32_t, outcome) noexcept {}
};
static_assert(whole_victim_policy<random>);

}  // namespace heist::victim
