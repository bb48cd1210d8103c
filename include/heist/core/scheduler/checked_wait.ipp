// The waits of fibers that may find their wait to be useless (README.md, "Parking"). Bodies of fiber.
#pragma once

#include <new>      // nothrow
#include <utility>  // exchange, move

#include "heist/core/base/unique_ptr.hpp"

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool fiber::wait_or_throw(completion& c, wait_reason const& why, wait_check& check) {
  if (c.is_ready()) return true;
  if (checked_waiter_ == nullptr) checked_waiter_ = make_unique<checked_waiter>(this);
  checked_waiter_->begin();
  fiber& next = suspend();
  check_ = &check;
  park(c, next, why, &after_checked_park);
  return std::exchange(check_, nullptr) != nullptr;
}

/// As after_park(). No thread can let the fiber resume before leave().
HEIST_COLD_BODY void fiber::after_checked_park(void* self) noexcept {
  fiber& f = *static_cast<fiber*>(self);
  core& scheduler = f.scheduler;
  resume_rule* const rule = f.rule_of_task();
  deferred_call const left = rule != nullptr ? rule->left(f) : deferred_call{};
  bool waits = f.awaited_->add_entry(*f.checked_waiter_);
  if (waits) {
    os_env::fence(std::memory_order_seq_cst);  // seq_cst: the last task of a circle sees all other ones in line
    if (f.check_->in_vain(*f.check_, f)) {
      f.check_ = nullptr;
      waits = false;
    } else {
      waits = f.checked_waiter_->leave();
    }
  }
  if (!waits) scheduler.make_ready(f);
  if (left.after != nullptr) left.after(left.of);
}

HEIST_COLD_BODY void fiber::wake_checked(completion_waiter& w) noexcept {
  auto& waiter = static_cast<checked_waiter&>(w);
  fiber& f = *waiter.self;
  switch (waiter.notified()) {
    case careful_waiter::place::left:
      return f.scheduler.make_ready(f);
    case careful_waiter::place::back:
      delete &waiter;
      return;
    default:
      return;  // `f` hears of it before it is left
  }
}

HEIST_COLD_BODY fiber const* fiber::of_waiter(completion_waiter const& w) noexcept {
  if (w.wake == &wake) return static_cast<parked_waiter const&>(w).self;
  if (w.wake != &wake_checked) return nullptr;
  auto const& waiter = static_cast<checked_waiter const&>(w);
  return waiter.has_stepped_back() ? nullptr : waiter.self;
}

HEIST_COLD_BODY completion const* fiber::end_of_frames() const noexcept {
  runnable const* const task = running.load(std::memory_order_relaxed);  // relaxed: its own, or it parked there
  if (task == nullptr) return stolen != nullptr ? &stolen->finished : nullptr;
  if (task->what == nullptr || task->what->operations->end == nullptr) return nullptr;
  return task->what->operations->end(*task);
}

HEIST_COLD_BODY bool fiber::may_step_back() noexcept {
  if (next_waiter_ == nullptr) next_waiter_.reset(new (std::nothrow) checked_waiter{this});
  return next_waiter_ != nullptr;
}

HEIST_COLD_BODY bool fiber::step_back() noexcept {
  if (!checked_waiter_->step_back()) return false;
  static_cast<void>(checked_waiter_.release());  // its waker's
  checked_waiter_ = std::move(next_waiter_);
  return true;
}

}  // namespace heist::detail
