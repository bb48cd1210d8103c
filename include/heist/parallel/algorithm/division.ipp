// Bodies of division.hpp.
#pragma once

#include "heist/parallel/algorithm/division.hpp"

#include "heist/core/fork/fork_room.hpp"

namespace heist::detail {

HEIST_BODY dividing dividing_of(context const& c) noexcept {
  fiber& self = context_access::fiber_of(c);
  if (self.order == fork_order::parent_first) return dividing::tasks;
  if (self.order == fork_order::child_first) return dividing::continuations;
  fork_slot* const position = context_access::position_of(c);
  if (room_of_forks(self).remembers(position)) return dividing::fixed;
  return self.order == fork_order::by_tier && context_access::mark_at(position) == position_mark::plain
             ? dividing::tasks
             : dividing::continuations;
}

}  // namespace heist::detail
