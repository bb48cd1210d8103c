// Bodies of division.hpp.
#pragma once

#include "heist/parallel/algorithm/division.hpp"

#include "heist/core/fork/fork_extension.hpp"

namespace heist::detail {

HEIST_BODY split_mode split_mode_of(context const& c) noexcept {
  fiber& self = context_access::fiber_of(c);
  if (self.order == fork_order::parent_first) return split_mode::tasks;
  if (self.order == fork_order::child_first) return split_mode::continuations;
  fork_slot* const position = context_access::position_of(c);
  if (extension_of_forks(self).has_history(position)) return split_mode::fixed;
  return self.order == fork_order::by_tier && context_access::mark_at(position) == position_mark::plain
             ? split_mode::tasks
             : split_mode::continuations;
}

HEIST_BODY std::size_t workers_of_part(context const& c, split_mode how) noexcept {
  std::size_t const in_part =
      how == split_mode::fixed ? extension_of_forks(context_access::fiber_of(c)).workers_of_part() : 0;
  return in_part != 0 ? in_part : workers_of(c);
}

}  // namespace heist::detail
