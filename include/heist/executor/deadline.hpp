// A point in time at which work is stopped.
#pragma once

#include <cstdint>
#include <stop_token>

#include "heist/base/config.hpp"
#include "heist/sched/timers.hpp"
#include "heist/sync/time_limit.hpp"

namespace heist {

namespace detail {

running_limit start_deadline(core& home, std::stop_token const& stop, std::int64_t when);

}  // namespace detail

/// What heist::with{.deadline = ...} takes: a point in time of any clock; none by default. What it needs is compiled only
/// where one is said.
class deadline {
 public:
  constexpr deadline() noexcept = default;
  template <class Clock, class Duration>
  deadline(std::chrono::time_point<Clock, Duration> const& when)
      : start_{&detail::start_deadline}, when_{detail::until(when)} {}

  explicit operator bool() const noexcept { return start_ != nullptr; }
  /// Begins to count for work of `home`, which `stop` stops, too. Throws bad_alloc, and executor_error where the system
  /// refuses a thread.
  detail::running_limit start(detail::core& home, std::stop_token const& stop) const {
    return start_(home, stop, when_);
  }

 private:
  detail::running_limit (*start_)(detail::core&, std::stop_token const&, std::int64_t) = nullptr;
  std::int64_t when_ = 0;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/executor/deadline.ipp"
#endif
