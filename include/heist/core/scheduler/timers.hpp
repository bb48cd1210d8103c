// Time limits of waits: one thread for all of them, made when the first one is set.
#pragma once

#include <cstdint>
#include <thread>  // std::chrono's clocks and durations, without their texts

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// A point in time, in os_env::nanoseconds(), and the function to call then. Its user owns it.
struct timed_call {
  using due_function = void (*)(timed_call&) noexcept;
  explicit timed_call(due_function f) noexcept : due{f} {}
  timed_call(timed_call const&) = delete;
  timed_call& operator=(timed_call const&) = delete;

  due_function const due;  ///< called by the timers' thread, without their lock; it must not wait
  std::int64_t when = 0;
  bool is_set = false;
  // A pairing heap: its first child, the next of its siblings, and the pointer to it.
  timed_call* child = nullptr;
  timed_call* sibling = nullptr;
  timed_call** link = nullptr;
};

/// A point in time that never comes.
inline constexpr std::int64_t never = INT64_MAX;

/// `never`, or a point in time in os_env::nanoseconds().
template <class Clock, class Duration>
std::int64_t until(std::chrono::time_point<Clock, Duration> const& when) {
  using seconds = std::chrono::duration<double>;
  auto const now = Clock::now();
  double const left = (seconds{when.time_since_epoch()} - seconds{now.time_since_epoch()}).count();
  if (left > 1e9) return never;
  if (!(left > -1)) return os_env::nanoseconds();
  // The sum above is not exact enough: it may be off by some hundred nanoseconds.
  auto const exactly = std::chrono::duration<double, std::nano>{when - now}.count();
  return os_env::nanoseconds() + (exactly > 0 ? static_cast<std::int64_t>(exactly) + 1 : 0);
}
template <class Rep, class Period>
std::int64_t until(std::chrono::duration<Rep, Period> const& time) {
  double const left = std::chrono::duration<double>{time}.count();
  if (left > 1e9) return never;
  if (!(left > 0)) return os_env::nanoseconds();
  return os_env::nanoseconds() + static_cast<std::int64_t>(left * 1e9) + 1;
}

/// Sets `e` to be due at `when`, once. Work of `scheduler` needs it: the thread ends with the last executor that has set one.
/// Throws executor_error if the system refuses the thread.
void set_timer(core& scheduler, timed_call& e, std::int64_t when);
/// `e` is not called any more when this returns. If the timers' thread calls it now, this waits for that.
void unset_timer(timed_call& e) noexcept;

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/timers.ipp"
#endif
