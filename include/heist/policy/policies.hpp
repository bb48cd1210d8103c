// A policy is a bundle of small types, each of which answers one question; executor<Policy> takes one.
#pragma once

#include <concepts>

#include "heist/policy/idle.hpp"
#include "heist/policy/order.hpp"
#include "heist/policy/victim.hpp"

namespace heist::policy {

/// The bundle: whom to rob, what to do without work, which task of a fork runs first, and how to wait for a stolen one.
template <class Victim, class Idle, class Order = order::parent_first, class Join = join::park>
struct bundle {
  static_assert(victim::victim_policy<Victim>,
                "heist: the first part of a policy chooses victims and must model heist::victim::victim_policy; "
                "mend it by giving it noexcept next(thief_view const&, fast_random&) and feedback(uint32_t, outcome).");
  static_assert(idle::idle_policy<Idle>,
                "heist: the second part of a policy decides about sleep and must model heist::idle::idle_policy; "
                "mend it by giving it noexcept begin(), failed(), pauses() and the four constants.");
  static_assert(order::fork_order<Order>,
                "heist: the third part of a policy is an order; mend it by heist::order::parent_first or "
                "heist::order::child_first.");
  using victim_type = Victim;
  using idle_type = Idle;
  using order_type = Order;
  using join_type = Join;
};

/// The default: uniformly random victims, parent-first.
struct random : bundle<victim::random, idle::default_idle> {};

/// Another idle policy in the place of Policy's own.
template <class Policy, class Idle>
struct with_idle : bundle<typename Policy::victim_type, Idle, typename Policy::order_type, typename Policy::join_type> {
};

/// Another order in the place of Policy's own.
template <class Policy, class Order>
struct with_order
    : bundle<typename Policy::victim_type, typename Policy::idle_type, Order, typename Policy::join_type> {};

/// Another way to wait for stolen tasks in the place of Policy's own. Child-first frames always park.
template <class Policy, class Join>
struct with_join : bundle<typename Policy::victim_type, typename Policy::idle_type, typename Policy::order_type, Join> {
};

/// What executor<P> asks of P.
// clang-format off
template <class P>
concept executor_policy =
    requires {
      typename P::victim_type;
      typename P::idle_type;
      typename P::order_type;
      typename P::join_type;
      { P::join_type::strategy } -> std::convertible_to<join_strategy>;
    } &&
    victim::victim_policy<typename P::victim_type> && idle::idle_policy<typename P::idle_type> &&
    order::fork_order<typename P::order_type>;
// clang-format on

static_assert(executor_policy<random>);

}  // namespace heist::policy
