// The search for work under policies that give frames to workers. A worker takes its own mail before it steals. It
// takes the mail of other workers when it finds no other work (README.md, "Following").
#pragma once

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/extension/search_of.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/core/scheduler/worker.hpp"
#include "heist/locality/replay/replay_extension.hpp"

namespace heist::detail {

/// The extension of policies that record and follow.
struct mail_search : no_search {
  static constexpr bool looks = true;
  static constexpr bool has_mail = true;

  template <class Scheduler>
  static unique_ptr<executor_extension> make(core&) {
    return make_unique<replay_extension>();
  }

  static bool called(worker const& w) noexcept { return !w.own_fibers.maybe_empty() || !w.mailbox.maybe_empty(); }

  template <class Loop>
  static runnable* look(fiber& self) {
    worker& w = *self.worker;
    return called(w) ? Loop::at_root(w.scheduler.take_submitted(w), self) : nullptr;
  }
  template <class Loop>
  static runnable* last_resort(fiber& self) {
    return Loop::at_root(self.scheduler.take_any_mail(), self);
  }
};

template <class Policy>
requires(Policy::order_type::value == fork_order::recorded) struct search_of<Policy> {
  using type = mail_search;
};

}  // namespace heist::detail
