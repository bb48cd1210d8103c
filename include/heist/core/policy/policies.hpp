// A policy is a bundle of small types, each of which answers one question; executor<Policy> takes one.
#pragma once

#include <concepts>

#include "heist/core/policy/hierarchical.hpp"
#include "heist/core/policy/idle.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/policy/sampling.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/policy/victim_sentences.hpp"
#include "heist/core/policy/victim_set.hpp"

namespace heist::policy {

/// A bundle of five policies. `Victim` names the workers to steal from. `Idle` says how a worker behaves without work.
/// `Order` says which task of a fork runs first. `Join` says how to wait for a stolen task. `Tier` says whether a
/// program is divided into tiers.
template <class Victim, class Idle, class Order = order::parent_first, class Join = join::park, class Tier = tier::flat>
struct bundle {
  static_assert(idle::idle_policy<Idle>,
                "heist: the second part of a policy decides about sleep and must model heist::idle::idle_policy; "
                "fix it by giving it noexcept begin(), failed(), pauses() and the four constants.");
  static_assert(
      idle::sleep_told_policy<Idle> || !requires { &Idle::slept; },
      "heist: the idle policy has a slept() that heist would never call; fix it by "
      "`void slept(std::uint64_t ticks) noexcept`, or by another name.");
  static_assert(order::forks_in_order<Order>,
                "heist: the third part of a policy is an order; fix it by heist::order::parent_first, "
                "heist::order::child_first, heist::order::recorded or heist::order::by_tier.");
  static_assert(tier::tier_policy<Tier>,
                "heist: the fifth part of a policy divides programs into tiers; fix it by heist::tier::flat, "
                "heist::tier::cab or heist::tier::cats.");
  static_assert((Order::value == fork_order::by_tier) == (Tier::division != tier_mode::none),
                "heist: tiers and the order by_tier belong together; fix it by deriving from heist::policy::cab or "
                "heist::policy::cats, or by tier::flat with another order.");
  using victim_type = typename decltype(victim::checked<Victim>())::type;  // or a sentence that names the missing part
  using idle_type = Idle;
  using order_type = Order;
  using join_type = Join;
  using tier_type = Tier;
};

/// The default: uniformly random victims, parent-first. A thief returns to a deque that had more tasks than it took.
struct random : bundle<victim::random, idle::standard> {};

/// Child-first; a region's run yields its steal tree. For executors with <heist/replay.hpp>.
struct replay : bundle<victim::random, idle::standard, order::recorded> {};

/// Looks at two random victims and steals from the one whose oldest task is closest to the root. Pays with hundreds of
/// workers.
struct sampling : bundle<victim::sampling<>, idle::standard> {};

/// The more thieves, the fewer victims each of them tries. Pays where caches are small for the number of workers.
struct victim_set : bundle<victim::victim_set<>, idle::standard> {};

/// Near squads first, farther ones the longer nothing is found. On a machine of one squad it is `random`. Whether it
/// pays on larger ones depends on the program; it is not the default anywhere.
struct hierarchical : bundle<victim::hierarchical, idle::standard> {};

/// Another idle policy in the place of Policy's own.
template <class Policy, class Idle>
struct with_idle : bundle<typename Policy::victim_type, Idle, typename Policy::order_type, typename Policy::join_type,
                          typename Policy::tier_type> {};

/// Another order in the place of Policy's own.
template <class Policy, class Order>
struct with_order : bundle<typename Policy::victim_type, typename Policy::idle_type, Order, typename Policy::join_type,
                           typename Policy::tier_type> {};

/// Another way to wait for stolen tasks in the place of Policy's own. Child-first frames always park.
template <class Policy, class Join>
struct with_join : bundle<typename Policy::victim_type, typename Policy::idle_type, typename Policy::order_type, Join,
                          typename Policy::tier_type> {};

/// Another division into tiers in the place of Policy's own, whose order is by_tier; tier::cats_measured_by<Counters>
/// for instance.
template <class Policy, class Tier>
struct with_tier : bundle<typename Policy::victim_type, typename Policy::idle_type, typename Policy::order_type,
                          typename Policy::join_type, Tier> {};

/// The requirements of executor<P> on P.
// clang-format off
template <class P>
concept executor_policy =
    requires {
      typename P::victim_type;
      typename P::idle_type;
      typename P::order_type;
      typename P::join_type;
      typename P::tier_type;
      { P::join_type::strategy } -> std::convertible_to<join_strategy>;
    } &&
    victim::victim_policy<typename P::victim_type> && idle::idle_policy<typename P::idle_type> &&
    order::forks_in_order<typename P::order_type> && tier::tier_policy<typename P::tier_type>;
// clang-format on

static_assert(executor_policy<random> && executor_policy<sampling> && executor_policy<victim_set> &&
              executor_policy<hierarchical>);
static_assert(executor_policy<replay>);

}  // namespace heist::policy
