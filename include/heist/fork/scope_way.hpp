// How the children of a scope start.
#pragma once

#include <type_traits>

#include "heist/fork/tier_fork.hpp"
#include "heist/sched/context.hpp"

namespace heist::detail {

enum class scope_way {
  deque,
  measured,  ///< as deque, in a region's first run under policy::cats
  child_first,
  squads,
  in_place  ///< called
};

/// Can a frame with such a context have children that start so? What it cannot have costs nothing.
template <class Context>
constexpr bool may_start(scope_way way) noexcept {
  if (std::is_same_v<Context, basic_context<order::parent_first>>) return way == scope_way::deque;
  if (std::is_same_v<Context, basic_context<order::child_first>>) return way == scope_way::child_first;
  if (std::is_same_v<Context, basic_context<order::recorded>>)
    return way == scope_way::child_first || way == scope_way::in_place;
  return true;
}

template <class Context>
scope_way way_of_scope(Context const& c) noexcept {
  using access = context_access;
  fork_order const order = access::fiber_of(c).order;
  if (order != fork_order::by_tier)
    return order == fork_order::parent_first ? scope_way::deque : scope_way::child_first;
  switch (access::mark_of(c)) {
    case tier_mark::flat:
      return scope_way::deque;
    case tier_mark::profiled:
      return scope_way::measured;
    case tier_mark::inter:
      if (access::template unmarked<inter_frame>(c)->run->how() != division::by_hand) return scope_way::squads;
      [[fallthrough]];
    default:
      return scope_way::child_first;
  }
}

}  // namespace heist::detail
