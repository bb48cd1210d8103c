// Code that uses the context, or the scope, of another task: on which fiber it really runs, and how it forks there.
#pragma once

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// The fiber that the calling code runs on, which uses objects of a task on `of`.
HEIST_RARE fiber& fiber_of_caller(fiber& of) noexcept;

/// Does the code that forks with a context of a task on `self` run elsewhere? Asked at each fork.
HEIST_ALWAYS_INLINE bool is_remote(fiber& self) noexcept {
  return !self.runs_here();
}

/// Where code forks on its fiber that has no context of its own: within a subtree that has to be resumed somewhere, as
/// its frames do.
inline fork_slot* position_here(fiber& here) noexcept {
  bool const within = here.order == fork_order::by_tier && here.rule_of_task() != nullptr;
  return within ? context_access::marked(here.top(), position_mark::child_first) : here.top();
}

/// The same for a context of that type, which may carry no marks.
template <class Context>
fork_slot* external_position(fiber& here) noexcept {
  if constexpr (fork_traits<typename Context::order_type>::has_marks) {
    return position_here(here);
  } else {
    return here.top();
  }
}

/// The context of the code that calls it, which has none at hand. `what`: for the executor_error outside of all tasks.
context context_of_caller(char const* what);

/// The frame of code that runs on `here` and has no context of its own, for a context of that type. Extensions specialise it
/// for contexts that carry more than a place to fork.
template <class Context>
struct external_frame {
  explicit external_frame(fiber& here) noexcept : self{here} {}
  fork_slot* position() const noexcept { return external_position<Context>(self); }
  fiber& self;
};

/// A context for code that has been given `c`, where it runs.
template <class Context>
struct callers_context {
  explicit callers_context(Context const& c) noexcept : context{c} {
    fiber& self = context_access::fiber_of(c);
    if (HEIST_LIKELY(self.runs_here())) return;
    fiber& here = fiber_of_caller(self);
    if (&here == &self) return;
    context = context_access::make<Context>(here, external_position<Context>(here));
    remote = true;
  }

  Context context;
  bool remote = false;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fork/remote.ipp"
#endif
