// Bodies of latch.hpp.
#pragma once

#include "heist/parallel/primitives/latch.hpp"

#include "heist/core/base/assert.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY open_line::~open_line() {
  detail::spin_guard guard{lock};
  if (!waiters.empty())
    HEIST_FATAL(
        "a heist latch, barrier or event is destroyed while a task or thread waits for it; fix it by joining the tasks "
        "and "
        "threads that use it before it goes");
}

HEIST_COLD_BODY void open_line::leave(void* me, queued_waiter<>& w, wait_end why) noexcept {
  auto& it = *static_cast<open_line*>(me);
  wake_list<> notified;
  detail::spin_guard guard{it.lock};
  it.waiters.leave(w, why, notified);
}

HEIST_COLD_BODY barrier_base::barrier_base(std::ptrdiff_t expected) : expected_{expected}, left_{expected} {
  if (expected < 0)
    throw executor_error{
        format_text("a barrier of {}: fix it by the number of those that arrive, at least 0", {expected})};
}

HEIST_COLD_BODY barrier_base::phase barrier_base::arrive(std::ptrdiff_t n, std::ptrdiff_t drops, bool& ends) {
  std::ptrdiff_t left = 0;
  {
    detail::spin_guard guard{line_.lock};
    left = left_;
    if (n >= 1 && n <= left) {
      left_ -= n;
      expected_ -= drops;
      ends = left_ == 0;
      return now_;
    }
  }
  throw executor_error{format_text(
      "{} arrive at a barrier of which {} are left in this phase; fix it by as many arrivals as it was made for",
      {n, left})};
}

HEIST_COLD_BODY void barrier_base::complete() noexcept {
  wake_list<> notified;
  detail::spin_guard guard{line_.lock};
  left_ = expected_;
  ++now_;
  line_.waiters.handle_all(notified);
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY latch::latch(std::ptrdiff_t expected) : left_{expected} {
  if (expected < 0)
    throw executor_error{
        detail::format_text("a latch of {}: fix it by the number of those that count down, at least 0", {expected})};
}

HEIST_COLD_BODY void latch::count_down(std::ptrdiff_t n) {
  std::ptrdiff_t left = 0;
  {
    detail::wake_list<> notified;
    detail::spin_guard guard{line_.lock};
    left = left_;
    if (n >= 0 && n <= left) {
      left_ -= n;
      if (left_ == 0) line_.waiters.handle_all(notified);
      return;
    }
  }
  throw executor_error{detail::format_text(
      "a latch of which {} are left is counted down by {}; fix it by no more than that", {left, n})};
}

HEIST_COLD_BODY bool latch::try_wait() const noexcept {
  detail::spin_guard guard{line_.lock};
  return left_ == 0;
}

HEIST_COLD_BODY void manual_reset_event::set() noexcept {
  detail::wake_list<> notified;
  detail::spin_guard guard{line_.lock};
  is_set_ = true;
  line_.waiters.handle_all(notified);
}

HEIST_COLD_BODY void manual_reset_event::reset() noexcept {
  detail::spin_guard guard{line_.lock};
  is_set_ = false;
}

HEIST_COLD_BODY bool manual_reset_event::is_set() const noexcept {
  detail::spin_guard guard{line_.lock};
  return is_set_;
}

}  // namespace heist
