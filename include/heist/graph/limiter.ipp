// Bodies of limiter.hpp.
#pragma once

#include "heist/graph/limiter.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::uint32_t limiter_balance::left_of(std::uint32_t count) noexcept {
  std::int64_t now = skipped.load(std::memory_order_relaxed);  // relaxed: amounts only
  std::int64_t less = 0;
  do {
    less = now < count ? now : count;
    if (less <= 0) return count;
  } while (!skipped.compare_exchange_weak(now, now - less, std::memory_order_relaxed));  // relaxed: as above
  return count - static_cast<std::uint32_t>(less);
}

HEIST_COLD_BODY void limited_task::go_on(queued_waiter<>& me) noexcept {
  auto& t = static_cast<limited_task&>(me);
  if (t.end == wait_end::completed) ++t.acquired;
  t.scheduler->make_runnable(t.resume);
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY void limiter::release(std::size_t permits) noexcept {
  detail::wake_list<> notified;
  permits_.give(static_cast<std::uint32_t>(permits < max() ? permits : max()), notified);
}

HEIST_COLD_BODY limiter::limiter(std::size_t most)
    : permits_{static_cast<std::uint32_t>(most), static_cast<std::uint32_t>(most)} {
  if (most == 0 || most > 0x7fffffff) {
    throw graph_error{
        detail::format_text("a limiter of {}: no task could ever run, or the count is not a sensible one; fix it by "
                            "allowing at least 1.",
                            {most})};
  }
}

}  // namespace heist
