// Bodies of ready_tasks.hpp.
#pragma once

#include "heist/core/scheduler/ready_tasks.hpp"

#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// Returns the task that `self` begins, having been promised one of `from`. It looks at one other worker's list, at
/// each in turn.
HEIST_BODY runnable* most_urgent(ready_tasks& from, fiber& self) {
  if (self.worker->alone) return &from.list.take();
  auto const& workers = self.scheduler.workers;
  std::uint32_t& turn = self.worker->ready.turn;
  turn = turn + 1 < workers.size() ? turn + 1 : 0;
  if (turn == self.worker->number) turn = turn + 1 < workers.size() ? turn + 1 : 0;
  return &from.list.take_or_exchange(workers[turn]->ready.list);
}

HEIST_BODY runnable* run_most_urgent(runnable& stands_for, fiber& self) {
  return most_urgent(static_cast<ready_tasks&>(stands_for), self);
}

HEIST_BODY ready_offer::ready_offer(fiber& self) noexcept : self_{self}, at_{self.worker->ready} {}

HEIST_BODY void ready_offer::add(std::uint64_t urgency, runnable& task) {
  if (at_.list.push(urgency, task)) {
    ++added_;
  } else {  // no memory: then it has no order
    self_.scheduler.push(*self_.worker, task);
  }
}

HEIST_BODY void ready_offer::leave() {
  for (; added_ != 0; --added_) self_.scheduler.push(*self_.worker, static_cast<runnable&>(at_));
}

HEIST_BODY runnable* ready_offer::begin() {
  if (added_ == 0) return nullptr;
  --added_;  // the caller stands for it
  leave();
  return most_urgent(at_, self_);
}

}  // namespace heist::detail
