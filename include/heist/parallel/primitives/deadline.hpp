// How deadlines count.
#pragma once

#include <cstdint>
#include <stop_token>

#include "heist/core/base/config.hpp"
#include "heist/core/executor/deadline.hpp"
#include "heist/core/scheduler/timers.hpp"

namespace heist::detail {

/// A limit that ends at `when`, in os_env::nanoseconds(), for work of `scheduler`; `stop` ends it, too. Throws
/// bad_alloc, and executor_error where the system refuses a thread.
running_limit start_limit(core& scheduler, std::stop_token const& stop, std::int64_t when);

template <class TimePoint>
struct limit_at {
  static constexpr auto start = &start_limit;
  static std::int64_t nanoseconds(TimePoint const& when) { return until(when); }
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/deadline.ipp"
#endif
