// Bodies of child_first.hpp.
#pragma once

#include "heist/core/fork/child_first.hpp"

namespace heist::detail {

HEIST_COLD_BODY void publish_continuations(fiber& child, continuation_slot* last) noexcept {
  worker& w = *child.worker;
  if (w.continuations.forked(last) == task_stack<continuation_slot>::fork_outcome::published)
    core::published_continuations(w);
  if (w.scheduler.needs_continuations(w, w.continuations.size_snapshot())) w.continuations.ask();
  child.handle_notification();
}

HEIST_COLD_BODY bool continuation_is_mine(worker& w, continuation_slot* at) noexcept {
  auto const outcome = w.continuations.join(at);
  if (outcome.published) core::published_continuations(w);
  if (w.notification.is_set()) w.continuations.ask();  // A1; the next child looks
  return outcome.mine;
}

}  // namespace heist::detail
