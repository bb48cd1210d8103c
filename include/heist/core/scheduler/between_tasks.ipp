// Bodies of between_tasks.hpp.
#pragma once

#include "heist/core/scheduler/between_tasks.hpp"

#include <cstdint>
#include <utility>  // exchange

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// A worker looks at the oldest entry of its own deque after so many tasks, if it has worked for so many ticks (some
/// 800 ms) since the last time. A look more often would cost time: a graph is laid out in the order in which a worker
/// runs it, and one look leaves that order for the rest of the run. A random graph of 10^6 tasks then takes up to 3
/// times as long.
inline constexpr std::uint32_t look_interval = 64;

inline constexpr std::uint64_t look_ticks = std::uint64_t{1} << 31;

HEIST_BODY runnable* core::take_request(worker& w, unsigned most) noexcept {
  w.loop_is_next = !w.loop_is_next;
  if (w.loop_is_next) {
    if (runnable* const loop = loops_of_outside.enter(); loop != nullptr) return loop;
  }
  bool more = false;
  bool const urgent = requests.maybe_urgent();
  queued_runnable* const first = requests.take(more, most);
  if (first != nullptr) {
    if (!urgent) w.share.urgent_ends();
    w.share.burst(more || first->next != nullptr);
    queued_runnable* reversed = nullptr;
    for (queued_runnable* r = std::exchange(first->next, nullptr); r != nullptr;) {
      queued_runnable* const after = std::exchange(r->next, reversed);
      reversed = std::exchange(r, after);
    }
    while (reversed != nullptr) push(w, *std::exchange(reversed, std::exchange(reversed->next, nullptr)));
  }
  if (more && !w.alone) announce(*w.gate, true);
  return first != nullptr ? first : loops_of_outside.enter();
}

/// `t` comes next, or null. Other workers may take it meanwhile.
HEIST_COLD_BODY runnable* pass_permit(runnable* t, worker& w) {
  worker& here = t != nullptr ? w.scheduler.push(w, *t) : w;
  here.scheduler.flush(here);
  here.scheduler.limit->pass(here);
  return here.deque.pop();
}

HEIST_BODY runnable* handle_notification(runnable* t, worker& w) {
  core& scheduler = w.scheduler;
  if (scheduler.is_permit_over(w)) [[unlikely]]
    return pass_permit(t, w);
  bool const idle = t == nullptr && w.deque.maybe_empty();
  if (!idle && w.share.passes()) return t;
  if (idle) let_gather(w);
  std::uint64_t const now = os_env::ticks();
  w.share.update(now);
  if (w.notification.lower_unless([&] { return scheduler.something_waits(w); })) {
    w.share.nothing_waits(now);
    return t;
  }
  core::ask_to_look(w);  // whatever runs next
  bool const due = w.share.is_due(now) || idle || scheduler.requests.maybe_urgent();
  if (!due) w.share.own_turn(now), w.share.own_task();
  if (!due && w.own_fibers.maybe_empty()) return t;
  if (w.share.is_long(now)) scheduler.flush(w);  // requests may never end, and those before be waited for
  worker& here = t != nullptr ? scheduler.push(w, *t) : w;
  if (due) {
    // Requests do not mix with the worker's own work where joins keep their worker, or an extension keeps its own tasks.
    bool const mixes = scheduler.joins == join_strategy::park && scheduler.extension == nullptr;
    std::uint32_t const n = mixes ? here.share.at_once(now) : 1;
    here.share.taken(now, n);
    if (runnable* const r = scheduler.take_request(here, n); r != nullptr) return r;
  }
  return scheduler.take_own(here);
}

HEIST_COLD_BODY runnable* look_back(runnable* t, worker& w) {
  w.until_look = look_interval;
  if (w.scheduler.something_waits(w)) core::notify_busy(w);
  // Joins that keep their worker may stand still when an older task comes before the task that they wait for.
  if (w.deque.maybe_empty() || w.scheduler.joins != join_strategy::park) return t;
  std::uint64_t const now = os_env::ticks();
  // Requests that have just been taken are in order, so they are let be for longer.
  bool const requests = w.deque.size_snapshot() < w.share.just_taken(now);
  if (w.last_look - w.active_since > now - w.active_since) w.last_look = w.active_since;  // it has slept since
  if (now - w.last_look < (requests ? 8 * look_ticks : look_ticks)) return t;
  w.last_look = now;
  w.scheduler.flush(w);
  worker& here = t != nullptr ? w.scheduler.push(w, *t) : w;
  return here.deque.steal().item;
}

}  // namespace heist::detail
