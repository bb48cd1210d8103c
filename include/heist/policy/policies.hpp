// A policy is a bundle of small types, each of which answers one question; executor<Policy> takes one.
#pragma once

#include "heist/policy/idle.hpp"
#include "heist/policy/victim.hpp"

namespace heist::policy {

/// The bundle: whom to rob, and what to do without work.
template <class Victim, class Idle>
struct bundle {
  static_assert(victim::victim_policy<Victim>,
                "heist: the first part of a policy chooses victims and must model heist::victim::victim_policy; "
                "mend it by giving it noexcept next(thief_view const&, fast_random&) and feedback(uint32_t, outcome).");
  static_assert(idle::idle_policy<Idle>,
                "heist: the second part of a policy decides about sleep and must model heist::idle::idle_policy; "
                "mend it by giving it noexcept begin(), failed(), pauses() and the four constants.");
  using victim_type = Victim;
  using idle_type = Idle;
};

/// The default: uniformly random victims.
struct random : bundle<victim::random, idle::default_idle> {};

/// Another idle policy in the place of Policy's own.
template <class Policy, class Idle>
struct with_idle : bundle<typename Policy::victim_type, Idle> {};

/// What executor<P> asks of P.
// clang-format off
template <class P>
concept executor_policy =
    requires {
      typename P::victim_type;
      typename P::idle_type;
    } &&
    victim::victim_policy<typename P::victim_type> && idle::idle_policy<typename P::idle_type>;
// clang-format on

static_assert(executor_policy<random>);

}  // namespace heist::policy
