// Bodies of semaphore.hpp.
#pragma once

#include "heist/parallel/primitives/semaphore.hpp"

#include "heist/core/base/assert.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY semaphore_base::semaphore_base(std::ptrdiff_t free, std::ptrdiff_t most)
    : limiter{static_cast<std::uint32_t>(free), static_cast<std::uint32_t>(most)} {
  if (free < 0 || free > most)
    throw graph_error{
        format_text("a semaphore of {} permits: fix it by a number from 0 to its max(), {}", {free, most})};
}

HEIST_COLD_BODY semaphore_base::~semaphore_base() {
  if (permits_.has_waiters())
    HEIST_FATAL(
        "a heist::counting_semaphore is destroyed while a task or thread waits for it; fix it by joining the tasks and "
        "threads "
        "that use it before it goes");
}

HEIST_COLD_BODY bool semaphore_base::wait(std::int64_t end) {
  parked_in_line<> w;
  return wait_in_line(in_line(), w, end, [&] { return permits_.take_or_enter(w); });
}

HEIST_COLD_BODY void semaphore_base::release(std::ptrdiff_t n) {
  if (n < 0) throw graph_error{format_text("a semaphore is given {} permits: fix it by a number of at least 0", {n})};
  wake_list<> notified;
  permits_.give(n > 0x7fffffff ? 0x7fffffffu : static_cast<std::uint32_t>(n), notified);
}

HEIST_COLD_BODY void semaphore_base::leave(void* me, queued_waiter<>& w, wait_end why) noexcept {
  wake_list<> notified;
  static_cast<semaphore_base*>(me)->permits_.leave(w, why, notified);
}

}  // namespace heist::detail
