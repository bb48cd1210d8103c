// Bodies of channel.hpp.
#pragma once

#include "heist/parallel/primitives/channel.hpp"

#include "heist/core/base/assert.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY channel_base::channel_base(std::size_t capacity) {
  if (capacity == 0 || capacity > (std::size_t{1} << 31))
    throw executor_error{format_text("a channel of {} values: fix it by a capacity from 1 to 2^31", {capacity})};
}

HEIST_COLD_BODY channel_base::~channel_base() {
  if (lines_.may_any_wait())
    HEIST_FATAL(
        "a heist::channel is destroyed while a task or thread waits for it; fix it by close(), and by joining the "
        "tasks and "
        "threads that use it before it goes");
}

HEIST_COLD_BODY void channel_base::tell_waiters(side s) noexcept {
  if (lines_.may_wait(s)) lines_.tell(s);
  // Those that wait for a value where none will come: each is told by the one before (end_of_wait), the first one here.
  if (s == two_lines<>::pushers && lines_.may_wait(two_lines<>::consumers)) lines_.tell(two_lines<>::consumers);
}

}  // namespace heist::detail
