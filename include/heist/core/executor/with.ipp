// Bodies of with.hpp.
#pragma once

#include "heist/core/executor/with.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY void reject_place(char const* what, with const& how) {
  if (how.priority == priority::normal && !how.fifo && !how.worker) return;
  throw executor_error{format_text(
      "{} is given a heist::with with .priority, .fifo or .worker, but waits in no queue. Fix it by leaving them out, "
      "or by submit().",
      {what})};
}

HEIST_COLD_BODY running_limit start_deadline(core& scheduler, with& how) {
  if (!how.deadline) return {};
  running_limit limit = how.deadline.start(scheduler, how.stop);
  how.stop = limit->token;
  return limit;
}

HEIST_COLD_BODY with_state::with_state(core& scheduler, with&& how)
    : name_{how.name},
      limit_{start_deadline(scheduler, how)},
      may_stop_{how.stoppable || how.stop.stop_possible()},
      stop_{std::move(how.stop)},
      priority_{how.priority},
      fifo_{how.fifo} {
  if (!how.worker) return;
  std::size_t const workers = scheduler.threaded_workers();
  if (*how.worker >= workers) {
    throw executor_error{format_text(
        "heist::with{{.worker = {}}}: this executor has {} workers with threads, counted from 0. Fix it by a number "
        "below that, or leave it out.",
        {*how.worker, workers})};
  }
  to_ = scheduler.workers[*how.worker].get();
}

}  // namespace heist::detail
