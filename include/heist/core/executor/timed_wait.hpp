// Waiting for the end of a task or of a run, with and without a limit in time.
#pragma once

#include <cstdint>
#include <thread>  // std::chrono's clocks and durations, without their texts

#include "heist/core/base/config.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/executor/circular_wait.hpp"

namespace heist::detail {

/// The end of a task or of a run, for callers that wait for it.
struct awaited_end {
  completion& end;
  os_env::atomic<std::uint8_t>& marks;  ///< has_waker: a caller has waited with a limit
  unsigned generation;                  ///< the process that will complete it
  wait_reason why;
  stop_target to;

  static constexpr std::uint8_t has_waker = 1;
};
awaited_end awaited_end_of(async_base& task) noexcept;

/// Sleeps until the end, for at most so many nanoseconds, or less. Throws bad_alloc; and executor_error in a child of the
/// process that completes it.
void sleep_for_end(awaited_end const& of, std::int64_t nanoseconds);

/// Returns true at the end, false when `left()`, in nanoseconds, is 0.
template <class Left>
bool wait_until_done(awaited_end const& of, Left&& left) {
  for (;;) {
    if (of.end.is_ready()) return true;
    std::int64_t const nanoseconds = left();
    if (nanoseconds == 0) return false;
    sleep_for_end(of, nanoseconds);
  }
}
/// Returns true at the end, false at `when`.
template <class Clock, class Duration>
bool wait_until_done(awaited_end const& of, std::chrono::time_point<Clock, Duration> const& when) {
  return wait_until_done(of, [&when]() -> std::int64_t {
    using seconds = std::chrono::duration<double>;
    auto const now = Clock::now();
    double const about = (seconds{when.time_since_epoch()} - seconds{now.time_since_epoch()}).count();
    // In portions: clocks may be set, and numbers overflow.
    if (about > 60) return 60'000'000'000;
    if (!(about > -60)) return 0;
    auto const left = when - now;
    return left <= left.zero() ? 0 : std::chrono::duration_cast<std::chrono::nanoseconds>(left).count() + 1;
  });
}

/// The point in time `time` from now, at most a century away: clocks cannot represent every duration.
template <class Rep, class Period>
auto later_by(std::chrono::duration<Rep, Period> const& time) noexcept {
  using seconds = std::chrono::duration<double>;
  constexpr std::chrono::hours most{24 * 36525};
  auto const now = std::chrono::steady_clock::now();
  if (seconds{time} >= seconds{most}) return now + most;
  if (!(seconds{time} > -seconds{most})) return now;  // or it is no number
  return now + std::chrono::duration_cast<std::chrono::nanoseconds>(time);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/executor/timed_wait.ipp"
#endif
