// Contexts of policies with tiers: parent-first between squads, child-first within one.
#pragma once

#include <utility>  // forward

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/fork_traits.hpp"
#include "heist/core/policy/order.hpp"

namespace heist::detail {

/// A fork of a frame that is in a tier. Apart, with a copy of the context, so that a frame that is not costs no more
/// than under other policies.
template <class Context, class... F>
HEIST_NOINLINE auto fork_in_tier(Context c, bool divide, in_register<F>... f) {
  fiber& self = context_access::fiber_of(c);
  fork_slot* const position = context_access::position_of(c);
  if (HEIST_LIKELY(context_access::mark_of(c) == position_mark::child_first))
    return child_first_fork<Context, F...>::run(self, position, f...);
  return fork_as_extension_decides<Context, F...>(self, position, divide, f...);
}

template <>
struct fork_traits<order::by_tier> : fork_traits<order::of_executor> {
  using region_context = basic_context<order::by_tier>;

  static fork_way way_of_scope(fiber& self, fork_slot* position) noexcept {
    return extension_of_forks(self).way_of_scope(self, position);
  }
  template <class Context, class... F>
  HEIST_ALWAYS_INLINE static auto fork_join(Context const& c, F&&... f) {
    if (HEIST_LIKELY(context_access::mark_of(c) == position_mark::plain))
      return parent_first_fork<Context, forked_callable<F>...>::run(context_access::fiber_of(c),
                                                                    context_access::position_of(c), f...);
    return fork_in_tier<Context, forked_callable<F>...>(c, false, f...);
  }
  template <class Context, class... F>
  static auto inter_fork(Context const& c, F&&... f) {
    if (context_access::mark_of(c) == position_mark::plain) return fork_join(c, std::forward<F>(f)...);
    return fork_in_tier<Context, forked_callable<F>...>(c, true, f...);
  }
};

/// In a region that is not divided; one within may be.
template <>
struct fork_traits<order::sequential> : fork_traits<order::parent_first> {
  static constexpr bool has_regions = true;
  using region_context = basic_context<order::by_tier>;
};

}  // namespace heist::detail
