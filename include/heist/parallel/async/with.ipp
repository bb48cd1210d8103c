// Bodies of with.hpp.
#pragma once

#include "heist/parallel/async/with.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY with_state::with_state(core& scheduler, with&& how)
    : name_{how.name}, priority_{how.priority}, fifo_{how.fifo} {
  if (how.worker) {
    if (*how.worker >= scheduler.workers.size()) {
      throw executor_error{format_text(
          "heist::with{{.worker = {}}}: this executor has {} workers, counted from 0. Fix it by a number below that "
          "(executor::worker_count()), or leave it out.",
          {*how.worker, scheduler.workers.size()})};
    }
    to_ = scheduler.workers[*how.worker].get();
  }
  if (how.deadline) {
    limit_ = how.deadline.start(scheduler, how.stop);
    how.stop = limit_->token;
  }
  if (how.stop.stop_possible()) stop_.emplace(std::move(how.stop));
}

}  // namespace heist::detail
