// Bodies of circular_wait.hpp.
#pragma once

#include "heist/core/executor/circular_wait.hpp"

#include <atomic>
#include <cstddef>  // size_t
#include <new>      // bad_alloc

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/fiber/current.hpp"

namespace heist::detail {

HEIST_ONE_COPY inline constinit wait_cycles all_wait_cycles;

/// Stays in line when the part has stepped back.
struct part_waiter : careful_waiter {
  explicit part_waiter(part_of_task const& of) noexcept : careful_waiter{&wake_up}, part{of} { begin(); }

  part_of_task const part;

  completion const* end() const noexcept { return has_stepped_back() ? nullptr : part.end; }

  static void wake_up(completion_waiter& w) noexcept {
    auto& waiter = static_cast<part_waiter&>(w);
    part_of_task const of = waiter.part;
    place const was = waiter.notified();
    if (was == place::entering) return;  // the thread that enters frees it
    delete &waiter;
    if (was == place::left) of.itself->wake(*of.itself);
  }
};

/// The completion that cannot end before `w` has been woken; null: not known, or something else may wake the waiter.
inline completion const* end_of_waiter(completion_waiter const& w) noexcept {
  if (dependency::is(w)) return &static_cast<dependency const&>(w).of->finished;
  if (w.wake == &part_waiter::wake_up) return static_cast<part_waiter const&>(w).end();
  fiber const* const waits = fiber::of_waiter(w);
  return waits == nullptr ? nullptr : waits->end_of_frames();
}

/// A quick test before all waits are followed: does a waiter exist for the task that ends with `own`, and may `awaited`
/// (null: a run) wait?
inline bool may_close_cycle(completion const& own, async_base const* awaited) noexcept {
  return own.waiters() != nullptr && (awaited == nullptr || awaited->may_wait());
}

struct cycle_check : wait_check {
  cycle_check(completion const& c, async_base const* task) noexcept
      : wait_check{&closes_cycle}, awaited{&c}, of{task} {}

  completion const* awaited;
  async_base const* of;  ///< the task whose end it is; null: a run's
  std::size_t length = 0;

  static bool closes_cycle(wait_check& self, fiber& waits) noexcept {
    auto& check = static_cast<cycle_check&>(self);
    completion const* const own = waits.end_of_frames();
    if (own == nullptr || !may_close_cycle(*own, check.of)) return false;
    if (!waits.may_step_back()) return false;
    return all_wait_cycles.closed_by(*own, *check.awaited, &end_of_waiter, [&](std::size_t n) {
      check.length = n;
      return waits.step_back();
    });
  }
};

struct seen_wait : wait_check {
  seen_wait() noexcept : wait_check{[](wait_check&, fiber&) noexcept { return false; }} {}
};

/// To be called before the calling task waits: the tasks that wait for it have to look.
inline void tell_that_it_waits() noexcept {
  runnable const* const task = caller_task();
  if (task != nullptr && task->what != nullptr && task->what->operations->to_text == &text_of_async)
    static_cast<async_base const*>(task)->tell_that_it_waits();
}

[[noreturn]] HEIST_COLD inline void reject_cycle(std::size_t length) {
  throw executor_error{format_text(
      "a task waits for what waits for the task itself: a circle of {} tasks, none of which would ever end; fix it by "
      "letting one of them return what it has, and by doing the rest in a task that comes after (heist::after).",
      {length})};
}

HEIST_COLD_BODY propagated_stop::propagated_stop(stop_target const& to) noexcept
    : propagated_stop{to, to.origin.state == nullptr ? nullptr : interrupt_of_caller()} {}

HEIST_COLD_BODY propagated_stop::propagated_stop(stop_target const& to, interrupt_state const* waiting) noexcept {
  if (!to.origin.is(waiting)) return;
  try {
    callback_.emplace(waiting->token(), call{to});
  } catch (std::bad_alloc const&) {  // then the stop is not handed on
  }
}

HEIST_COLD_BODY stop_target stop_target_of(async_base& task) noexcept {
  inherited_stop* const its = inherited_stop::of(task);
  if (its == nullptr) return {};
  return {its->origin, [](void* what) noexcept { inherited_stop::stop(*static_cast<async_base*>(what)); }, &task};
}

inline wait_reason reason_of(async_base const& task) noexcept {
  auto const name = task.operations().name;
  char const* const its = name == nullptr ? nullptr : name(task);
  return its == nullptr ? wait_reason{"a future"} : wait_reason{"the task", its};
}

inline void wait_unless_rejected(completion& end, unsigned generation, wait_reason const& why, async_base const* task,
                                 stop_target const& to) {
  propagated_stop const stop{to};
  tell_that_it_waits();
  cycle_check check{end, task};
  if (!wait_for(end, generation, why, check)) reject_cycle(check.length);
}

HEIST_COLD_BODY void wait_for_future(async_base& task) {
  wait_unless_rejected(task.finished, task.generation, reason_of(task), &task, stop_target_of(task));
}

HEIST_COLD_BODY void wait_for_run(completion& end, unsigned generation, wait_reason const& why, stop_target const& to) {
  wait_unless_rejected(end, generation, why, nullptr, to);
}

HEIST_COLD_BODY void wait_for_future_to_the_end(async_base& task) {
  propagated_stop const stop{stop_target_of(task)};
  wait_to_the_end(task.finished, task.generation, reason_of(task));
}

HEIST_COLD_BODY void wait_for_async(async_base& task) {
  tell_that_it_waits();
  seen_wait check;
  wait_for(task.finished, task.generation, reason_of(task), check);
}

HEIST_COLD_BODY completion const* end_of_caller_task() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  if (w == nullptr) return nullptr;
  tell_that_it_waits();
  return w->current.load(std::memory_order_relaxed)->end_of_frames();  // relaxed: its own
}

HEIST_COLD_BODY bool wait_as_part(completion& end, async_base const* awaited, part_of_task const& waits) {
  if (&end == waits.end) {
    throw executor_error{
        "a coroutine waits for the task, or for the run of the task, that waits for the coroutine: neither would ever "
        "end; fix it by co_return of what it has, and by doing the rest in a task that comes after (heist::after)."};
  }
  auto waiter = make_unique<part_waiter>(waits);
  bool const in_line = end.add_entry(*waiter);
  if (in_line) {
    os_env::fence(std::memory_order_seq_cst);  // seq_cst: the last task of a circle sees all other ones in line
    std::size_t length = 0;
    bool const back = may_close_cycle(*waits.end, awaited) &&
                      all_wait_cycles.closed_by(*waits.end, end, &end_of_waiter, [&](std::size_t n) {
                        length = n;
                        return waiter->step_back();
                      });
    if (back) {
      static_cast<void>(waiter.release());  // its waker's
      reject_cycle(length);
    }
  }
  waits.leaves(*waits.itself);
  if (!in_line || !waiter->leave()) return false;
  static_cast<void>(waiter.release());  // as above
  return true;
}

}  // namespace heist::detail
