// Code that uses the context, or the scope, of another task: on which fiber it really runs, and how it forks there.
#pragma once

#include <type_traits>

#include "heist/base/assert.hpp"
#include "heist/base/config.hpp"
#include "heist/policy/order.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/worker.hpp"

namespace heist::detail {

/// The fiber that the calling code runs on, which uses what belongs to a task on `of`.
HEIST_RARE fiber& fiber_of_caller(fiber& of) noexcept;

/// Does the code that forks with a context of `on` run elsewhere? Asked at each parent-first fork where programs are
/// checked. In all builds a fork notices that the place of its slot is taken, which it is by whom it has been forked.
HEIST_ALWAYS_INLINE bool is_elsewhere([[maybe_unused]] fiber& on) noexcept {
#if HEIST_CHECKED
  return !on.runs_here();
#else
  return false;
#endif
}

/// Where code forks on its fiber that has no context of its own: within a squad's subtree for the squad.
inline fork_slot* position_here(fiber& here) noexcept {
  return here.bound() != nullptr ? context_access::marked(here.top(), tier_mark::intra) : here.top();
}
/// As above, for a context of that type, which may carry no marks.
template <class Context>
fork_slot* position_without_context(fiber& here) noexcept {
  if constexpr (std::is_same_v<Context, basic_context<order::by_tier>> || std::is_same_v<Context, context>) {
    return position_here(here);
  } else {
    return here.top();
  }
}

/// A context for code that has been given `c`, where it runs.
template <class Context>
struct callers_context {
  explicit callers_context(Context const& c) noexcept : context{c} {
    fiber& on = context_access::fiber_of(c);
    if (HEIST_LIKELY(on.runs_here())) return;
    fiber& here = fiber_of_caller(on);
    if (&here == &on) return;
    context = without(here);
    elsewhere = true;
  }
  static Context without(fiber& here) noexcept {
    return context_access::make<Context>(here, position_without_context<Context>(here));
  }

  Context context;
  bool elsewhere = false;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/fork/elsewhere.ipp"
#endif
