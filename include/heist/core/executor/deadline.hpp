// A point in time at which work is stopped.
#pragma once

#include <cstdint>
#include <stop_token>

#include "heist/core/sync/time_limit.hpp"

namespace heist {

namespace detail {
class core;
/// Counts the time; complete in heist/sync.hpp.
template <class TimePoint>
struct limit_at;
template <class TimePoint>
inline constexpr bool can_count_to = requires {
  sizeof(limit_at<TimePoint>);
};
}  // namespace detail

/// The type of heist::with{.deadline = ...}: a point in time of any clock of std::chrono, or none. Needs
/// heist/sync.hpp.
class deadline {
 public:
  constexpr deadline() noexcept = default;
  template <class TimePoint>
  requires requires { typename TimePoint::clock; }
  deadline(TimePoint const& when) {
    static_assert(detail::can_count_to<TimePoint>,
                  "heist: a deadline needs what counts the time; fix it by #include <heist/sync.hpp>.");
    if constexpr (detail::can_count_to<TimePoint>) {
      start_ = detail::limit_at<TimePoint>::start;
      when_ = detail::limit_at<TimePoint>::nanoseconds(when);
    }
  }

  explicit operator bool() const noexcept { return start_ != nullptr; }
  /// Begins to count for work of `scheduler`, which `stop` stops, too. Throws bad_alloc, and executor_error where the system
  /// refuses a thread.
  detail::running_limit start(detail::core& scheduler, std::stop_token const& stop) const {
    return start_(scheduler, stop, when_);
  }

 private:
  detail::running_limit (*start_)(detail::core&, std::stop_token const&, std::int64_t) = nullptr;
  std::int64_t when_ = 0;
};

}  // namespace heist
