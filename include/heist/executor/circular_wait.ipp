// Bodies of circular_wait.hpp.
#pragma once

#include "heist/executor/circular_wait.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstddef>  // size_t

#include "heist/base/errors.hpp"

namespace heist::detail {

HEIST_ONE_COPY inline constinit wait_circles all_wait_circles;

/// What is not complete before `w` has been woken; null: not known, or something else may wake what waits.
inline completion const* end_of_waiter(completion_waiter const& w) noexcept {
  if (dependency::is(w)) return &static_cast<dependency const&>(w).of->finished;
  fiber const* const waits = fiber::of_waiter(w);
  return waits == nullptr ? nullptr : waits->end_of_frames();
}

struct circle_check : wait_check {
  circle_check(completion const& c, async_base const* task) noexcept
      : wait_check{&closes_circle}, awaited{&c}, of{task} {}

  completion const* awaited;
  async_base const* of;  ///< the task whose end it is; null: a run's
  std::size_t length = 0;

  static bool closes_circle(wait_check& self, fiber& waits) noexcept {
    auto& check = static_cast<circle_check&>(self);
    completion const* const own = waits.end_of_frames();
    if (own == nullptr || own->waiters() == nullptr) return false;  // nobody waits for it
    if (check.of != nullptr && !check.of->may_wait()) return false;
    if (!waits.may_step_back()) return false;
    return all_wait_circles.closed_by(*own, *check.awaited, &end_of_waiter, [&](std::size_t n) {
      check.length = n;
      return waits.step_back();
    });
  }
};

struct seen_wait : wait_check {
  seen_wait() noexcept : wait_check{[](wait_check&, fiber&) noexcept { return false; }} {}
};

/// Before the calling task waits: those who wait for it have to look.
inline void tell_that_it_waits() noexcept {
  runnable const* const task = calling_task();
  if (task != nullptr && task->what != nullptr && task->what->operations->describe == &describe_async)
    static_cast<async_base const*>(task)->tell_that_it_waits();
}

inline void wait_unless_refused(completion& end, unsigned generation, wait_reason const& why, async_base const* task) {
  tell_that_it_waits();
  circle_check check{end, task};
  if (wait_for(end, generation, why, check)) return;
  throw executor_error{fmt::format(
      "a task waits for what waits for the task itself: a circle of {} tasks, none of which would ever end; fix it by "
      "letting one of them return what it has, and by doing the rest in a task that comes after (heist::after).",
      check.length)};
}

HEIST_COLD_BODY void wait_for_future(async_base& task) {
  wait_unless_refused(task.finished, task.generation, {"a future"}, &task);
}

HEIST_COLD_BODY void wait_for_run(completion& end, unsigned generation, wait_reason const& why) {
  wait_unless_refused(end, generation, why, nullptr);
}

HEIST_COLD_BODY void wait_for_async(async_base& task) {
  tell_that_it_waits();
  seen_wait check;
  wait_for(task.finished, task.generation, {"a future"}, check);
}

}  // namespace heist::detail
