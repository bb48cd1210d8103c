// Bodies of after.hpp.
#pragma once

#include "heist/parallel/async/after.hpp"

namespace heist::detail {

HEIST_BODY void start_after(core& scheduler, async_base& task, dependency* links) noexcept {
  task.wave = static_cast<std::uint8_t>(scheduler.add_work());
  std::uint32_t const count = task.links;
  task.awaited.expect(count);
  // A link that is not in its list yet keeps the task from running. So nothing is touched after the last, unless some
  // were not needed.
  std::uint32_t over = 0;
  for (std::uint32_t i = 0; i != count; ++i) {
    if (links[i].on->finished.add_entry(links[i])) continue;
    links[i].settle();
    ++over;
  }
  if (over == count || (over != 0 && task.awaited.arrive(over))) make_ready(task);
}

HEIST_COLD_BODY void fail_as_links(async_base& task, dependency const* links) noexcept {
  for (std::uint32_t i = 0; i != task.links; ++i) {
    async_base* const from = links[i].on;
    if (from == nullptr || !from->exception) continue;
    // acquire: what its other owners did. The last one hands on the only reference.
    bool const alone = from->owners.load(std::memory_order_acquire) == 1;
    std::exception_ptr e = alone ? from->take_exception() : from->pass_exception();
    if (task.exception) continue;
    if (from->unobserved.refers() || from->scheduler == nullptr) {
      task.fail_with(std::move(e));
    } else {
      task.exception = std::move(e);  // of one that was stopped
    }
  }
}

HEIST_COLD_BODY core& scheduler_of_run(core* scheduler) {
  if (!core::is_alive(scheduler)) {
    throw executor_error{
        "then() of a run whose executor is gone, and no worker would run it; fix it by then() before the executor is "
        "destroyed, or by submitting to another one: ex.submit(heist::after(run), f)."};
  }
  return *scheduler;
}

HEIST_COLD_BODY core& scheduler_of(async_base& task) {
  if (task.scheduler == nullptr) {
    throw executor_error{
        "then() on a future that belongs to no executor (of make_ready_future(), or of when_all() with nothing to wait "
        "for); fix it by "
        "ex.submit(heist::after(future), f)."};
  }
  if (!core::is_alive(task.scheduler)) {
    throw executor_error{
        "a task is to come after a future whose executor is gone, and no worker would run it; fix it by then(), "
        "when_all() or when_any() before the executor is destroyed, or by submitting to another one: "
        "ex.submit(heist::after(future), f)."};
  }
  return *task.scheduler;
}

}  // namespace heist::detail
