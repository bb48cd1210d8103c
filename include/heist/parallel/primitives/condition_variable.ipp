// Bodies of condition_variable.hpp.
#pragma once

#include "heist/parallel/primitives/condition_variable.hpp"

#include "heist/core/base/assert.hpp"
#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/scheduler/fiber.hpp"

namespace heist::detail {

HEIST_COLD_BODY keeps_waiting::keeps_waiting() noexcept : fiber_{this_fiber()} {
  if (fiber_ != nullptr) ++fiber_->keeps_waiting;
}
HEIST_COLD_BODY keeps_waiting::~keeps_waiting() {
  if (fiber_ != nullptr) --fiber_->keeps_waiting;
}

struct alignas(cache_line_size) condition_lock {
  detail::spin_lock<> lock;
};
HEIST_ONE_COPY inline constinit condition_lock condition_locks[64];

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY detail::spin_lock<>& condition_variable_any::lock() const noexcept {
  auto const at = reinterpret_cast<std::uintptr_t>(this) / 16;
  return detail::condition_locks[(at * 0x9E3779B97F4A7C15u) >> 58].lock;
}

HEIST_COLD_BODY condition_variable_any::~condition_variable_any() {
  detail::spin_guard guard{lock()};
  if (!line_.empty())
    HEIST_FATAL(
        "a heist::condition_variable_any is destroyed while a task or thread waits; fix it by joining the tasks and "
        "threads "
        "that use it before it goes");
}

HEIST_COLD_BODY void condition_variable_any::notify_one() noexcept {
  detail::wake_list<> notified;
  detail::spin_guard guard{lock()};
  if (!line_.empty()) line_.complete_first(notified);
}

HEIST_COLD_BODY void condition_variable_any::notify_all() noexcept {
  detail::wake_list<> notified;
  detail::spin_guard guard{lock()};
  line_.handle_all(notified);
}

HEIST_COLD_BODY detail::wait_end condition_variable_any::enter(waiter& w) noexcept {
  detail::spin_guard guard{lock()};
  return line_.enter(w) ? detail::wait_end::none : w.end;
}

HEIST_COLD_BODY detail::wait_end condition_variable_any::wait_unlocked(detail::line const& of, waiter& w,
                                                                       std::int64_t end) {
  std::exception_ptr const failure = detail::wait_until_notified(w.notified, of, w, end);
  if (failure && w.end != detail::wait_end::completed) std::rethrow_exception(failure);
  return w.end;
}

HEIST_COLD_BODY void condition_variable_any::leave(void* me, detail::queued_waiter<>& w,
                                                   detail::wait_end why) noexcept {
  auto& it = *static_cast<condition_variable_any*>(me);
  detail::wake_list<> notified;
  detail::spin_guard guard{it.lock()};
  it.line_.leave(w, why, notified);
}

}  // namespace heist
