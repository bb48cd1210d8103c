// Which room a policy belongs to.
#pragma once

#include "heist/core/extension/room_core.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/fwd.hpp"

namespace heist::detail {

/// Rooms specialise it for their policies.
template <class Policy>
struct room_of {
  static_assert(Policy::order_type::value == fork_order::parent_first ||
                    Policy::order_type::value == fork_order::child_first,
                "heist: executor<Policy> needs the room that this policy belongs to; fix it by #include "
                "<heist/locality.hpp>, or <heist/tiers.hpp> for policy::cab and policy::cats, <heist/replay.hpp> for "
                "policy::replay.");
  using type = no_search;
};

/// The context that its executor's tasks get when they take one as `auto`.
template <class Policy>
struct context_of {
  using type = basic_context<typename Policy::order_type>;
};

}  // namespace heist::detail
